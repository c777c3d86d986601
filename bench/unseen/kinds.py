"""Kinds of secrets and personal data, written from memory of how they look and not copied from the rules.

A blank is <alphabet count>: an letters and digits, b64 those of base64, url those of addresses, hex, HEX, dig, low, up,
b32. What stands between « and » is what must go; all of it where there are none.
"""

from typing import Literal, NamedTuple

Group = Literal["form", "named", "personal"]
"""What has a form of its own, what only its name makes a secret, and what names somebody."""

UUID = "<hex8>-<hex4>-4<hex3>-a<hex3>-<hex12>"


class Kind(NamedTuple):
    """A kind: how it looks, and the name that it is usually given; empty where none is needed to know it."""

    id: str
    group: Group
    form: str
    name: str = ""


def _forms() -> tuple[Kind, ...]:
    return tuple(Kind(name, "form", form) for name, form in FORMS.items())


def _named() -> tuple[Kind, ...]:
    return tuple(Kind(f"{name}", "named", form, name) for name, form in NAMED.items())


def _personal() -> tuple[Kind, ...]:
    return tuple(Kind(name, "personal", form) for name, form in PERSONAL.items())


FORMS = {
    # models
    "anthropic api": "sk-ant-api03-<url93>AA",
    "anthropic oauth": "sk-ant-oat01-<url93>AA",
    "anthropic refresh": "sk-ant-ort01-<url93>AA",
    "openai user": "sk-<an48>",
    "openai project": "sk-proj-<url74>T3BlbkFJ<url74>",
    "openai service": "sk-svcacct-<url58>T3BlbkFJ<url58>",
    "openrouter": "sk-or-v1-<hex64>",
    "deepseek": "sk-<hex32>",
    "langfuse": f"sk-lf-{UUID}",
    "hugging face": "hf_<an34>",
    "groq": "gsk_<an20>WGdyb3FY<an24>",
    "xai": "xai-<an80>",
    "perplexity": "pplx-<an48>",
    "replicate": "r8_<an37>",
    "elevenlabs": "sk_<hex48>",
    "pinecone": "pcsk_<an6>_<an63>",
    "tavily": "tvly-dev-<an32>",
    "google ai": "AIzaSy<url33>",
    "langsmith": "lsv2_pt_<hex32>_<hex10>",
    "nvidia": "nvapi-<url64>",
    # git hosts and CI
    "github classic": "ghp_<an36>",
    "github app": "ghs_<an36>",
    "github fine": "github_pat_11<up20>_<an59>",
    "gitlab": "glpat-<url20>",
    "gitlab routable": "glpat-<url27>.01.<b32l9>",
    "gitlab runner": "glrt-t1_<url20>",
    "atlassian": "ATATT3xFfGF0<url172>=<HEX8>",
    "circleci": "CCIPAT_<an22>_<hex40>",
    "buildkite": "bkua_<hex40>",
    "sourcegraph": "sgp_<hex16>_<hex40>",
    # clouds
    "aws id": "AKIA<b3216>",
    "aws temporary id": "ASIA<b3216>",
    "azure storage": "DefaultEndpointsProtocol=https;AccountName=quay;AccountKey=«<b6486>==»;EndpointSuffix=core.net",
    "azure app": "<an3>8Q~<url31>",
    "azure devops": "<an76>AZDO<an4>",
    "gcp oauth": "ya29.a0Af<url140>",
    "google refresh": "1//0<url100>",
    "gcp service account": '{"type": "service_account", "private_key": "-----BEGIN PRIVATE <>KEY-----\\n«MIIE<b6460>\\n'
    '<b6464>\\n<b6464>»\\n-----END PRIVATE KEY-----\\n"}',
    "digitalocean": "dop_v1_<hex64>",
    "alibaba": "LTAI5t<an18>",
    "yandex": "AQVN<url35>",
    "fly": "fo1_<url43>",
    "heroku": "HRKU-<url60>",
    "vercel": "vcp_<an56>",
    "netlify": "nfp_<an36>",
    "render": "rnd_<an28>",
    "databricks": "dapi<hex32>",
    "planetscale": "pscale_tkn_<url43>",
    "neon": "napi_<b32l64>",
    "supabase": "sbp_<hex40>",
    "vault": "hvs.CAES<url90>",
    "terraform": "<an14>.atlasv1.<an67>",
    "pulumi": "pul-<hex40>",
    "doppler": "dp.pt.<an43>",
    "one password": "ops_eyJ<an300>",
    "age": "AGE-SECRET-KEY-1<up58>",
    "openshift": "sha256~<url43>",
    # registries and tools
    "npm": "npm_<an36>",
    "pypi": "pypi-AgEIcHlwaS5vcmcC<url120>",
    "rubygems": "rubygems_<hex48>",
    "crates": "cio<an32>",
    "nuget": "oy2<b32l43>",
    "docker hub": "dckr_pat_<url27>",
    "artifactory": "AKCp8<an68>",
    "sentry": "sntryu_<hex64>",
    "grafana": "glsa_<an32>_<hex8>",
    "new relic": "NRAK-<up27>",
    "honeycomb": "hcaik_<b32l58>",
    "linear": "lin_api_<an40>",
    "notion": "ntn_<dig11><an35>",
    "airtable": "pat<an14>.<hex64>",
    "figma": "figd_<url40>",
    "postman": "PMAK-<hex24>-<hex34>",
    "hubspot": f"pat-na1-{UUID}",
    "contentful": "CFPAT-<url43>",
    "typeform": "tfp_<url44>_<an14>",
    "mapbox": "sk.eyJ1Ijoi<an60>.<url22>",
    "dropbox": "sl.<url135>",
    "launchdarkly": f"api-{UUID}",
    "prefect": "pnu_<an36>",
    "readme": "rdme_<b32l70>",
    "easypost": "EZAK<an54>",
    "shippo": "shippo_live_<hex40>",
    "duffel": "duffel_live_<url43>",
    # chat, mail, payment
    "slack bot": "xoxb-<dig12>-<dig13>-<an24>",
    "slack user": "xoxp-<dig11>-<dig11>-<dig13>-<hex32>",
    "slack app": "xapp-1-A0<up9>-<dig13>-<hex64>",
    "slack hook": "https://hooks.slack.com/services/«T0<up9>/B0<up9>/<an24>»",
    "discord bot": "MTA<an23>.G<an5>.<url38>",
    "discord hook": "https://discord.com/api/webhooks/«<dig19>/<url68>»",
    "telegram": "<dig10>:AA<url33>",
    "sendgrid": "SG.<url22>.<url43>",
    "mailgun": "key-<hex32>",
    "mailchimp": "<hex32>-us21",
    "brevo": "xkeysib-<hex64>-<an16>",
    "resend": "re_<an8>_<an24>",
    "twilio": "SK<hex32>",
    "stripe": "sk_live_51<an97>",
    "stripe restricted": "rk_live_51<an97>",
    "stripe hook": "whsec_<an32>",
    "square": "EAAAl<url59>",
    "shopify": "shpat_<hex32>",
    "paypal": "access_token$production$<b32l16>$<hex32>",
    "plaid": f"access-production-{UUID}",
    "razorpay": "rzp_live_<an14>",
    "facebook": "EAAB<an160>",
    # what every system has
    "jwt": "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOi<an50>.<url43>",
    "rsa key": "-----BEGIN RSA PRIVATE <>KEY-----\n«MIIE<b6460>\n<b6464>\n<b6464>»\n-----END RSA PRIVATE KEY-----",
    "ssh key": "-----BEGIN OPENSSH PRIVATE <>KEY-----\n«b3BlbnNzaC1rZXktdjEA<b6450>\n<b6470>\n<b6420>»\n"
    "-----END OPENSSH PRIVATE KEY-----",
    "postgres": "postgresql://harbour_app:«<an18>»@db.harbour.net:5432/ships?sslmode=require",
    "mongodb": "mongodb+srv://crane:«<an20>»@cluster0.ab1cd.mongodb.net/?retryWrites=true",
    "redis": "rediss://default:«<an30>»@eu1-tern-12345.upstash.io:6379",
    "git remote": "https://oauth2:«<an24>»@git.harbour.net/ships/crane.git",
    "wireguard": "[Interface]\nPrivateKey = «<b6443>=»\nAddress = 10.66.66.2/32",
    "netrc": "machine git.harbour.net login crane password «<an20>»",
    "basic header": "Authorization: Basic «Y3JhbmU6<b6424>»",
    "bearer header": "Authorization: Bearer «<an44>»",
    "session cookie": "Cookie: _harbour_session=«<an64>»; theme=dark",
    "sas": "https://harbour.blob.core.net/ships?sv=2024-11-04&ss=b&sp=r&sig=«<an43>%3D»",
    "aws signature": "https://s3.amazonaws.com/ships/a?X-Amz-Credential=x&X-Amz-Signature=«<hex64>»",
    "bcrypt": "$2b$12$«<an53>»",
}

NAMED = {
    "AWS_SECRET_ACCESS_KEY": "<b6440>",
    "AWS_SESSION_TOKEN": "IQoJb3JpZ2luX2Vj<b64300>",
    "DATADOG_API_KEY": "<hex32>",
    "DD_APP_KEY": "<hex40>",
    "CLOUDFLARE_API_TOKEN": "<url40>",
    "HEROKU_API_KEY": UUID,
    "RAILWAY_TOKEN": UUID,
    "SNYK_TOKEN": UUID,
    "POSTMARK_SERVER_TOKEN": UUID,
    "ALGOLIA_ADMIN_KEY": "<hex32>",
    "WANDB_API_KEY": "<hex40>",
    "COHERE_API_KEY": "<an40>",
    "MISTRAL_API_KEY": "<an32>",
    "TWILIO_AUTH_TOKEN": "<hex32>",
    "AUTH0_CLIENT_SECRET": "<url64>",
    "SECRET_KEY_BASE": "<hex128>",
    "DJANGO_SECRET_KEY": "<an20>&<an12>!<an14>",
    "NEXTAUTH_SECRET": "<b6443>=",
    "JWT_SIGNING_KEY": "<b6432>",
    "ENCRYPTION_KEY": "<hex64>",
    "WEBHOOK_SECRET": "<hex40>",
    "POSTGRES_PASSWORD": "<an16>",
    "DB_PASS": "<an6>!<an6>",
    "MYSQL_ROOT_PASSWORD": "<an12>",
    "REDIS_PASSWORD": "<an24>",
    "SMTP_PASSWORD": "<low4>-<low4>-<an4>-<an4>",
    "ADMIN_PASSPHRASE": "<an20>",
    "github_token": "<hex40>",
    "clientSecret": "<an32>",
    "refresh_token": "<url64>",
    "sessionToken": "<an48>",
    "X-Api-Key": "<an40>",
    "private_key_id": "<hex40>",
    "FASTLY_API_TOKEN": "<url32>",
    "ROLLBAR_ACCESS_TOKEN": "<hex32>",
}

PERSONAL = {
    "home of linux": "/home/«marguerite»/code/harbour",
    "home of mac": "/Users/«ottoline»/Documents/x.txt",
    "home of windows": "C:\\Users\\«Wilhelmina»\\AppData\\x",
    "home in wsl": "/mnt/c/Users/«theodora»/x",
    "e-mail": "«marguerite.delacroix@seaport-logistics.eu»",
    "e-mail tagged": "«ottoline+cranes@tidewater.org»",
    "ipv4": "«81.169.145.<dig2>»",
    "ipv4 private": "«10.24.37.1<dig2>»",
    "ipv6": "«2a01:4f8:c2c:7d1<hex1>::1»",
    "phone": "«+49 30 <dig4> <dig4>»",
    "phone of america": "«+1 (415) 736-<dig4>»",
}

KINDS = (*_forms(), *_named(), *_personal())
