"""Values that only a name or a place makes a secret: found in every usual surrounding; ordinary lines are let be."""

import string
from random import Random

import pytest

from tests.thorough import tries
from unspool.redact.finder import Finder
from unspool.redact.letter_pairs import chance
from unspool.redact.placeholders import is_placeholder
from unspool.redact.rebuild import redact_value
from unspool.redact.replacements import ReplacementNames

FINDER = Finder()
ALNUM = string.ascii_letters + string.digits
ALPHABETS = {
    "password": (ALNUM + "!#%^*_+~", 14),
    "letters": (string.ascii_letters, 14),
    "small letters": (string.ascii_lowercase, 16),
    "hexadecimal": ("0123456789abcdef", 32),
    "base64": (ALNUM + "+/", 40),
}
SYMBOLS = "$:=,;("
NAMED = {
    "env": "DB_PASSWORD={}\n",
    "export": "export API_TOKEN={}",
    "trace": "+ export DB_PASSWORD={}",
    "trace of a command": "++ API_TOKEN={}",
    "yaml": "  password: {}\n",
    "yaml list": "passwords:\n  - {}\n",
    "yaml block": "password: >-\n  {}\n",
    "python": 'api_key = "{}"',
    "python, typed": 'password: str = "{}"',
    "python, item": "app.config['SECRET_KEY'] = '{}'",
    "python, argument": "connect(host='db', password='{}')",
    "rust": 'const API_KEY: &str = "{}";',
    "typescript": "private readonly apiKey: string = '{}';",
    "swift": 'static let authToken: String = "{}"',
    "kotlin": 'val apiKey: String = "{}"',
    "go": 'apiKey := "{}"',
    "java": 'private static final String API_KEY = "{}";',
    "java, property": 'props.setProperty("password", "{}");',
    "c#": 'private const string ApiKey = "{}";',
    "php": "$password = '{}';",
    "php, define": "define('DB_PASSWORD', '{}');",
    "php, array": "'password' => '{}',",
    "ruby": "ENV['API_KEY'] = '{}'",
    "c": '#define API_KEY "{}"',
    "c++": 'std::string access_token{{"{}"}};',
    "objective-c": 'NSString *accessToken = @"{}";',
    "powershell": '$env:API_TOKEN = "{}"',
    "default of getenv": 'os.getenv("API_KEY", "{}")',
    "default after or": "const k = process.env.API_KEY || '{}';",
    "default after ??": 'const k = process.env.API_KEY ?? "{}";',
    "default of a shell": "TOKEN=${{API_TOKEN:-{}}}",
    "setenv": 'os.Setenv("API_KEY", "{}")',
    "go, typed": 'const apiKey string = "{}"',
    "c#, property": 'public string ApiKey {{ get; set; }} = "{}";',
    "default of an option": '@click.option("--api-key", default="{}")',
    "default of a schema": 'API_KEY: z.string().default("{}")',
    "default of rust": 'env::var("DB_PASSWORD").unwrap_or("{}".into())',
    "a box": "│ API_TOKEN │ {} │",
    "ini, wide": "api_token     =     {}\n",
    "docker": "ENV API_KEY={}",
    "docker, space": "ENV API_KEY {}",
    "docker, arg": "ARG NPM_TOKEN={}",
    "terraform": 'db_password = "{}"',
    "terraform, variable": 'variable "db_password" {{\n  default = "{}"\n}}',
    "xml": "<password>{}</password>",
    "xml, attribute": '<add key="ApiKey" value="{}" />',
    "xml, named": '<string name="api_key">{}</string>',
    "plist": "<key>API_KEY</key><string>{}</string>",
    "json": '{{"clientSecret": "{}"}}',
    "json, pair": '{{"name": "API_KEY", "value": "{}"}}',
    "sql": "ALTER ROLE ada PASSWORD '{}';",
    "sql, identified": "CREATE USER 'ada'@'%' IDENTIFIED BY '{}';",
    "sql, insert": "INSERT INTO users (name, password) VALUES ('ada', '{}');",
    "csv": "name,url,password\nx,shop.net,{}\n",
    "table": "| password | `{}` |",
    "table by its head": "| user | password |\n|---|---|\n| ada | {} |\n",
    "prose": "The password is `{}`, do not tell",
    "bold": "**Password:** {}",
    "flag": "svn co --username ada --password {} x",
    "flag, token": "vercel --token {} deploy",
    "argv": '"args": ["-y", "x", "--api-key", "{}"]',
    "mysql": "mysql -u root -p'{}' shop",
    "sshpass": "sshpass -p '{}' ssh ada@host",
    "redis": "redis-cli -h cache -a '{}' ping",
    "piped": "echo '{}' | docker login -u ada --password-stdin",
    "pgpass": "db.shop.net:5432:shop:ada:{}",
    "netrc": "machine git.shop.net login ada password {}",
    "kubeconfig": "  user:\n    client-key-data: {}\n",
    "login": 'smtp.login("ada@shop.net", "{}")',
    "basic": "HTTPBasicAuth('ada', '{}')",
}
"""Surroundings; {} is the value."""
CLEAN = """
password = os.environ['DB_PASSWORD']
password: str
password: Optional[str] = None
password = getpass.getpass("Password: ")
password = hash_password2(user)
self.password = password
const token = await getToken();
let apiKey: String = config.apiKey
api_key = settings.API_KEY
token = request.headers.get("X-Token")
key = "some.dotted.translation.key"
key: "ArrowRight"
cacheKey = `user_profile_v2_settings`
if (key === "Backspace") return
tokens = tokenizer.encode(text)
max_tokens: 4096
"token_type": "bearer"
secretName: my-tls-secret
secretKeyRef:
  key: database-password
password_file: /run/secrets/db_password
PASSWORD=$(cat /run/secrets/db)
export TOKEN=$GITHUB_TOKEN
TOKEN=${TOKEN:-default}
os.getenv("API_KEY", "")
os.getenv("API_KEY", "none")
process.env.API_KEY || 'missing'
<password>required</password>
<input type="password" name="password" placeholder="Password">
--password PASSWORD
--token TOKEN   the token to use
--api-key string   key of the service
the password is required
the password is incorrect
Your password was changed successfully.
Enter the password for the administrator account
all tests pass without warnings
pass `--linux` to see them
**Password:** ask the harbour master
| password | string | required |
username,password,role
ALTER ROLE ada PASSWORD NULL;
IDENTIFIED BY 'changeme';
INSERT INTO users (name, password) VALUES (?, ?);
mkdir -p src/components/harbour2
docker run -p 8080:8080 harbour/crane
ssh -p 2222 ada@host
echo hello | docker run -i alpine cat
echo "$TOKEN" | docker login --password-stdin
login("ada", "password")
jwt.sign(payload, "secret")
hmac.new(key, message, "sha256")
import { AuthProvider } from "./AuthProvider"
public key: ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGPl8bXs3yNqYt3vGq1r0mJ9ZkQ2p5n8wT6cV7uX4eLs
key: Ed25519PublicKey
primaryKey: ['passwordId', 'authKey6'],
author: Ada Lovelace
authority = "login.microsoftonline.com"
keyboard: qwertz
api_key: your-api-key-here
API_KEY=xxxxxxxxxxxxxxxxxxxx
password: changeme
password: hunter2
secret = "supersecret"
token: <token>
token: {{ api_token }}
apiKey: ${{ secrets.API_KEY }}
password: !Ref DbPassword
password: arn:aws:secretsmanager:eu-west-1:123456789012:secret:x-AbCdEf
""".strip().splitlines()


def made(alphabet: str, length: int, random: Random) -> str:
    """A value of chance that begins and ends with a letter, and does not happen to be a placeholder."""
    while True:
        value = "".join(random.choices(alphabet, k=length))
        if value[0].isalpha() and value[-1].isalnum() and not is_placeholder(value):
            return value


def is_found(text: str, value: str) -> bool:
    """Whether all of the value goes."""
    start = text.index(value)
    return any(match.start <= start and match.end >= start + len(value) for match in FINDER.find(text))


@pytest.mark.parametrize("kind", ALPHABETS)
@pytest.mark.parametrize("name", NAMED)
def test_a_value_is_found_where_it_is_named(name: str, kind: str) -> None:
    """Whatever it is made of, with a digit or without: nine in ten values and more."""
    random, times = Random(f"{name} {kind}"), tries(10, 100)
    values = [made(*ALPHABETS[kind], random) for _ in range(times)]
    missed = [value for value in values if not is_found(NAMED[name].format(value), value)]
    assert len(missed) <= times // 10, missed


@pytest.mark.parametrize("surrounding", ['password = "{}"', "'password' => '{}',", "DB_PASSWORD={}\n", '"pwd": "{}"'])
def test_six_characters_are_enough_for_a_password(surrounding: str) -> None:
    """Short values are told from words by their pairs of letters, nine in ten of them."""
    random = Random(6)
    values = [made(ALNUM, 6, random) for _ in range(tries(40, 400))]
    missed = [value for value in values if not is_found(surrounding.format(value), value)]
    assert len(missed) <= len(values) // 10, missed


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("ENV['DB_PASSWORD'] = 'BridgeRibbon77'", "BridgeRibbon77"),
        ("password = Pepper2008!\n", "Pepper2008!"),
        ("<password>vessel2012</password>", "vessel2012"),
        ("const zitadelPat = 'uo2oevbe3aq2p6sunafek566eljjijovhygzgnfxp'", "uo2oevbe3aq2p6sunafek566eljjijovhygzgnfxp"),
        ("tool --zitadel-pat 5bXEajtSoDU0G6vB2QCftEYwPGtELRn4Na4", "5bXEajtSoDU0G6vB2QCftEYwPGtELRn4Na4"),
    ],
)
def test_what_people_choose_and_call_a_secret_is_one(line: str, value: str) -> None:
    assert [one.value for one in FINDER.find(line)] == [value]


@pytest.mark.parametrize(
    "line", ["password = value2\n", 'password: "FieldInput2"', "compat: uo2oevbe3aq2p6sunafek566eljjij"]
)
def test_names_of_code_are_no_passwords(line: str) -> None:
    assert FINDER.find(line) == []


@pytest.mark.parametrize("surrounding", ['password = "{}"', "define('SECRET_KEY', '{}');", '{{"clientSecret": "{}"}}'])
def test_signs_within_a_quoted_value_do_not_end_it(surrounding: str) -> None:
    """Nothing behind a sign is left."""
    random = Random(7)
    values = [made(ALNUM + SYMBOLS, 24, random) for _ in range(tries(40, 400))]
    assert [value for value in values if not is_found(surrounding.format(value), value)] == []


@pytest.mark.parametrize("line", CLEAN)
def test_ordinary_lines_are_let_be(line: str) -> None:
    """Code, documents, placeholders, types, variables and paths hold no secret."""
    assert [match.value for match in FINDER.find(f"{line}\n") if match.kind == "secret"] == []


def test_an_option_names_the_item_behind_it() -> None:
    """A list of arguments is looked through as a command would read it."""
    value = made(ALNUM, 20, Random(8))
    (redacted, found) = redact_value({"args": ["-y", "--api-key", value, "x"]}, FINDER, ReplacementNames())
    assert redacted == {"args": ["-y", "--api-key", "[redacted:named-secret-1]", "x"]}
    assert [match.value for _, match in found] == [value]


def test_every_row_of_a_column_is_found() -> None:
    """The head names all rows, not the first one alone; cells of other columns stay."""
    random = Random(9)
    values = [made(ALNUM, 12, random) for _ in range(5)]
    rows = "".join(f"ada,{value},harbour\n" for value in values)
    assert [match.value for match in FINDER.find(f"user,password,place\n{rows}\nThe end, of all, this\n")] == values


@pytest.mark.parametrize(
    "table",
    [
        "id,api_token,host\n1,{},db3\n",
        "id\tclient_secret\n1\t{}\n",
        "| host | api_key |\n|---|---|\n| db3 | {} |\n",
        " id | db_password\n----+-------------\n  1 | {}\n(1 row)\n",
        "INSERT INTO conf (id, access_token) VALUES (1, '{}');",
    ],
)
def test_a_column_may_be_headed_with_a_key(table: str) -> None:
    """Tokens and keys stand in tables as passwords do."""
    value = made(ALNUM, 32, Random(12))
    assert [match.value for match in FINDER.find(table.format(value))] == [value]


def test_a_column_of_words_or_of_public_keys_stays() -> None:
    """The head of a column promises a secret, its cells must be one."""
    value = made(ALNUM, 32, Random(13))
    assert FINDER.find("id,sort_key\n1,harbour-master-settings\n") == []
    assert FINDER.find(f"id,public_key\n1,{value}\n") == []


def test_a_table_ends_with_its_text() -> None:
    """Texts that are looked through together do not lend each other the head of a column."""
    value = made(string.ascii_lowercase, 14, Random(11))
    assert FINDER.find(f"user,password\0ada,{value}") == []
    assert FINDER.find(f"user,password\nada,none\0ada,{value}") == []


@pytest.mark.parametrize("name", ["js-tokens@4.0.0", "@scope/minipass@7.1.2", "1.2.840.113549.1.9.7"])
def test_a_package_or_the_number_of_an_object_is_no_secret(name: str) -> None:
    """What a list of packages or a table of standards says stands beside names of secrets."""
    assert is_placeholder(name)
    assert FINDER.find(f'password: "{name}"') == []


def test_a_word_beside_chance_is_no_placeholder() -> None:
    """A key may begin with the word secret; a made-up one has nothing else."""
    assert not is_placeholder("secret_" + made(ALNUM, 24, Random(14)))
    assert is_placeholder("my-secret-key-1234")


def test_chance_is_told_from_words() -> None:
    """Words and names have bits below zero, values of chance well above."""
    words = [
        "harbour-master",
        "user_profile_settings",
        "getElementById",
        "accessTokenExpiresAt",
        "correct-horse-battery",
    ]
    assert [word for word in words if chance(word) > 0] == []
    random = Random(10)
    values = ["".join(random.choices(string.ascii_lowercase, k=12)) for _ in range(200)]
    assert sum(chance(value) > 7 for value in values) > 190
