"""Masking of secrets (K-01). Every secret here is put together at run time and belongs to nobody."""

# ruff: noqa: RUF001, E501 -- the marks have angle quotes; tables of cases are easier to read in one row

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcode.masking import Masker
from mcode.masking.masker import KEPT, SLICE, slices

if TYPE_CHECKING:
    from pathlib import Path

RANDOM = "a8F3kZ9qLm" + "2XwP7rTy4B"
HEX = "9f86d081884c7d659a2f" + "eaa0c55ad015a3bf4f1b"
CAPITALS = "QWERTYUIOP" + "ASDFGH"
LOWER = "correct" + "horse"

SHAPES = {
    "anthropic": "sk-" + "ant-api03-" + RANDOM * 2,
    "provider": "sk-" + RANDOM * 2,
    "provider project": "sk-" + "proj-" + RANDOM,
    "provider lower case": "sk-" + HEX,
    "github": "ghp" + "_" + RANDOM * 2,
    "github server": "ghs" + "_" + RANDOM * 2,
    "github fine-grained": "github" + "_pat_" + RANDOM + "_" + RANDOM,
    "gitlab": "glpat" + "-" + RANDOM,
    "slack": "xoxb" + "-123456789012-" + RANDOM,
    "slack app": "xapp" + "-1-" + RANDOM,
    "google": "AIza" + RANDOM + RANDOM[:15],
    "google oauth": "ya29." + RANDOM * 2,
    "aws": "AKIA" + CAPITALS,
    "aws temporary": "ASIA" + CAPITALS,
    "jwt": "eyJ" + "hbGciOiJIUzI1NiJ9." + "eyJ" + "zdWIiOiIxMjM0In0." + RANDOM,
    "stripe": "sk" + "_live_" + RANDOM,
    "npm": "npm" + "_" + RANDOM * 2,
    "pypi": "pypi" + "-AgEI" + RANDOM * 3,
    "huggingface": "hf" + "_" + RANDOM * 2,
}

PLACES = {
    "authorization bearer": ("Authorization: Bearer ", RANDOM, "\r\n"),
    "authorization basic": ("authorization: Basic ", "dXNlcjpw" + "YXNzd29yZA==", "\n"),
    "authorization in JSON": ('{"Authorization": "token ', RANDOM, '"}'),
    "authorization in a command": ("curl -H 'Authorization: Bearer ", RANDOM, "' x"),
    "authorization signature": ("Authorization: Digest username=me, response=", HEX, ""),
    "bearer alone": ("sent Bearer ", RANDOM, " to it"),
    "cookie": ("Cookie: sid=", RANDOM, "; theme=x"),
    "second cookie": ("Cookie: a=b; session=", RANDOM, ""),
    "set-cookie": ("Set-Cookie: sid=", RANDOM, "; Path=/; HttpOnly"),
    "api key header": ("X-Api-Key: ", RANDOM, "\n"),
    "url password": ("postgres://user:", "s3cr3t" + "pw", "@db.example/x"),
    "url password with an at sign": ("https://user:", "p@ss" + "w0rd", "@host/"),
    "url user": ("https://", HEX, "@git.example/x"),
    "query token": ("https://x.example/z?access_token=", RANDOM, "&a=1"),
    "query key": ("https://x.example/?a=1&api_key=", RANDOM, ""),
    "query signature": ("https://x.example/?X-Amz-Signature=", HEX, ""),
    "environment password": ("DB_PASSWORD=", "hunter" + "2", "\n"),
    "environment plain password": ("export PGPASSWORD=", LOWER, ""),
    "environment key": ("STRIPE_KEY=", "abc123" + "def", ""),
    "environment quoted": ('API_TOKEN="', RANDOM, '"'),
    "environment secret": ("SECRET_KEY=", "abcdef" + "ghij", ""),
    "yaml": ("password: ", "hunter" + "22x", "\n"),
    "json": ('"password": "', LOWER, '"'),
    "json in json": ('{\\"client_secret\\": \\"', LOWER * 2, '\\"}'),
    "python": ('api_key = "', RANDOM, '"'),
    "python annotated": ('token: str = "', RANDOM, '"'),
    "javascript": ("apiKey: '", RANDOM, "'"),
    "ruby": ("'password' => '", LOWER, "'"),
    "form": ("user=a&password=", "hunter" + "2x", "&b=c"),
    "xml": ("<password>", "hunter" + "2x", "</password>"),
    "flag": ("login --password ", "hunter" + "22", " --yes"),
    "flag with equals": ("login --token=", RANDOM, ""),
    "pair": ("AKIA" + CAPITALS + ",", RANDOM * 2, "\n"),
    "aws config": ("aws_secret_access_key = ", RANDOM * 2, "\n"),
}


@pytest.fixture
def masker() -> Masker:
    return Masker()


@pytest.mark.parametrize("name", SHAPES)
def test_k_01_a_secret_is_known_by_its_shape(name: str, masker: Masker) -> None:
    secret = SHAPES[name]
    for text in (f"found {secret} here", f'"{secret}"', f"line\\n{secret}", f"={secret}\n", f"密钥{secret}"):
        masked = masker.mask(text)
        assert secret not in masked
        assert secret[8:-4] not in masked
        assert f":{secret[-4:]}›" in masked


@pytest.mark.parametrize("name", PLACES)
def test_k_01_a_secret_is_known_by_its_place(name: str, masker: Masker) -> None:
    before, secret, after = PLACES[name]
    masked = masker.mask(before + secret + after)
    assert secret not in masked
    assert "‹secret:" in masked
    if after:
        assert masked.endswith(after), "what stands behind is left as it is"


@pytest.mark.parametrize("closing", ["\n-----END RSA PRIVATE KEY-----\nafter", "\nafter the key was cut off"])
def test_k_01_private_keys_go_whole_also_when_they_are_cut_off(closing: str, masker: Masker) -> None:
    lines = "\n".join([RANDOM * 3] * 4)
    key = f"-----BEGIN RSA PRIVATE KEY-----\n{lines}{closing}"
    for text in (key, json.dumps(key)):
        masked = masker.mask(f"before {text}")
        assert RANDOM not in masked
        assert masked.startswith("before ")
        assert "after" in masked


def test_k_01_secret_variables_of_the_environment_are_masked_wherever_they_stand() -> None:
    masker = Masker(
        {
            "DEPLOY_TOKEN": "zebra-" + "crossing-9",
            "MY_PASSWORD": 'quo"te\nline' + "break",
            "SHORT_TOKEN": "abc",
            "PATH": "/usr/local/bin",
            "TOKEN_LIMIT": "10000000",
            "SSH_KEY_PATH": "/home/me/.ssh/id_rsa",
            "DB_PASSWORD": "password",
        }
    )
    assert masker.mask("run zebra-crossing-9!") == "run ‹secret:env:ng-9›!"
    assert "line" not in masker.mask('x quo"te\nlinebreak y')
    assert "line" not in masker.mask(json.dumps({"x": 'quo"te\nlinebreak'}))
    assert "quo%22te" not in masker.mask("https://x/?q=quo%22te%0Alinebreak")
    for text in ("abc abc", "/usr/local/bin", "10000000", "/home/me/.ssh/id_rsa", "the word password"):
        assert masker.mask(text) == text


def test_k_01_the_longer_of_two_values_is_masked_first() -> None:
    masker = Masker({"A_TOKEN": "abcdefgh", "B_TOKEN": "abcdefghijklmnop"})
    assert masker.mask("x abcdefghijklmnop y") == "x ‹secret:env:mnop› y"


def test_k_02_only_mcodes_own_keys_are_kept_from_the_model() -> None:
    own = "own-" + RANDOM
    masker = Masker({"OTHER_TOKEN": "other-" + RANDOM}, keys=[own, "none"])
    text = f"{own} and other-{RANDOM} and none"
    assert masker.mask_keys(text) == f"‹secret:key:{RANDOM[-4:]}› and other-{RANDOM} and none"
    assert masker.mask(text) == f"‹secret:key:{RANDOM[-4:]}› and ‹secret:env:{RANDOM[-4:]}› and none"


def test_k_01_short_secrets_show_none_of_their_characters(masker: Masker) -> None:
    assert masker.mask("DB_PASSWORD=" + "hunter" + "2") == "DB_PASSWORD=‹secret:named:****›"


def test_k_01_the_same_secret_always_gives_the_same_mark(masker: Masker) -> None:
    secret = SHAPES["github"]
    assert masker.mask(secret) == Masker().mask(secret) == masker.mask(f"x {secret}")[2:]


@pytest.mark.parametrize("text", [*SHAPES.values(), *("".join(parts) for parts in PLACES.values())])
def test_k_01_a_masked_text_stays_as_it_is(text: str, masker: Masker) -> None:
    masked = masker.mask(text)
    assert masker.mask(masked) == masked


ORDINARY = """\
token = parser.next()
key = line.split()[0]
password = getpass()
sorted(items, key=len)
sorted(items, key=lambda item: item.name)
max_tokens=4096
max_tokens = 100000000
"key": "name"
keyboard = "us-international"
password: str
password: Optional[str] = None
api_key = os.environ["API_KEY"]
api_key=settings.api_key
password=self.password
token_type: "bearer_token_type"
secretName: my-app-tls
primary_key=True
foreign_key: "users.account_id"
if token == "STRING_LITERAL":
token = "STRING_LITERAL"
"token": "identifier"
<input type="password" name="password" id="password">
const token = await getToken(user)
headers["Authorization"] = f"Bearer {token}"
Authorization: Bearer $TOKEN
Authorization: Bearer <token>
authorization: required
"Bearer authentication required"
API_KEY=$MY_KEY
API_KEY=${MY_KEY}
API_KEY=<your key>
API_KEY=your-api-key-here
export TOKEN="$(cat file)"
task-aaaaaaaaaaaaaaaaaaaaaaaa
.sk-folding-cube-container
risk-management-and-compliance-team
monkey=banana
https://example.com/a:b@c
https://example.com/?sort_key=created_at&page=2
git@github.com:owner/name.git
https://user:$PASSWORD@host/
the secret: be kind to people
key: value pairs are stored
tokens: 512
SORT_KEY=created_at
cookie: the thing
password_hash = hash_password(password)
def f(token: Token, key: Key) -> None:
event.key === "ArrowUpOrDown"
key="user_profile_2024_settings"
ssl_key: /etc/ssl/private/server.key
React.createElement("li", {key: item.identifier})
self.tokens = tokenize(self.text)
--key-file path/to/file.pem
--password PASSWORD
--token TOKEN  the token to use
const [password, setPassword] = useState("")
"password": {"type": "string"}
"secret": null, "token": true
-----BEGIN CERTIFICATE-----
the words PRIVATE KEY stand here
commit 4f2d8e9a1b3c5d7e4f2d8e9a1b3c5d7e4f2d8e9a
sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
""".splitlines()


@pytest.mark.parametrize("line", ORDINARY)
def test_ordinary_code_and_prose_stay_as_they_are(line: str, masker: Masker) -> None:
    assert masker.mask(line) == line
    assert masker.mask(f"before\n{line}\nafter") == f"before\n{line}\nafter"


def test_k_01_values_of_json_are_masked_with_their_keys(masker: Masker) -> None:
    secret = SHAPES["github"]
    value = {
        "command": f"curl -u x:{secret}",
        "password": LOWER,
        "options": [{"name": "API_TOKEN", "value": RANDOM}, {"name": "colour", "value": "green"}],
        "key": "Enter",
        secret: 1,
        "count": 3,
        "rest": (None, True, 1.5),
    }
    masked = masker.mask_value(value)
    text = json.dumps(masked)
    assert secret not in text
    assert LOWER not in text
    assert RANDOM not in text
    assert masked["options"][1] == {"name": "colour", "value": "green"}
    assert masked["key"] == "Enter"
    assert masked["rest"] == [None, True, 1.5]
    assert value["password"] == LOWER, "the value given stays as it is"


def test_k_01_two_masked_keys_do_not_become_one(masker: Masker) -> None:
    masked = masker.mask_value({"ghp" + "_" + "A" * 20 + "tail": 1, "ghp" + "_" + "B" * 20 + "tail": 2})
    assert sorted(masked.values()) == [1, 2]


def test_a_path_that_speaks_of_tokens_is_no_name_of_a_secret(masker: Masker) -> None:
    read = {"/project/src/token": HEX * 2, "src/api_token.py": HEX * 2}
    assert masker.mask_value(read) == read


FRAGMENTS = st.sampled_from(
    ["password", "token", "key", "=", ":", '"', "'", "\\", " ", "\n", "://", "@", "?", "&", "Bearer ", "Authorization: ",
     "Cookie: ", "--", "sk-", "eyJ", ".", "-----BEGIN ", "PRIVATE KEY-----", "‹secret:x:", "›", "a1B2c3D4e5", "AKIA", "{", ">", "İ"]
)  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(st.lists(FRAGMENTS, max_size=25).map("".join))
def test_masking_twice_is_masking_once(text: str) -> None:
    masker = Masker({"SOME_TOKEN": "c3D4e5a1B2c3"})
    once = masker.mask(text)
    assert masker.mask(once) == once


@pytest.mark.parametrize(
    "unit",
    ["a", "key ", "key=", '"key":"v",', "password=", "sk-", " eyJaaaaaaaaa", "eyJ", "eyJaaaaaaaa.", "-----BEGIN PRIVATE KEY-----",
     "://", "://aaaa:bbbb@", "?token=abcdefghij1&", "bearer ", "authorization: ", "cookie: a=b; ", "--a ", 'password="', "AKIA"]
)  # fmt: skip
def test_a_flood_is_masked_in_linear_time(unit: str, masker: Masker) -> None:
    text = unit * (200_000 // len(unit))
    began = time.process_time()
    masker.mask(text)
    # A fraction of a second here; going back over the text for every find would take minutes.
    assert time.process_time() - began < 15


def test_a_very_long_secret_goes_to_its_end(masker: Masker) -> None:
    secret = RANDOM * 2000
    for text in (f"API_TOKEN={secret}", f'"password": "{secret}"', f"Authorization: Negotiate {secret}"):
        assert RANDOM not in masker.mask(text)


def test_the_directories_of_a_shell_are_no_secrets(tmp_path: Path) -> None:
    place = tmp_path / "work" / "project"
    place.mkdir(parents=True)
    masker = Masker({"PWD": str(place), "OLDPWD": str(tmp_path), "DEPLOY_TOKEN_PLACE": str(place)})
    for text in (f"Working directory: {place}", f"PWD={place}", f"OLDPWD={tmp_path}/work"):
        assert masker.mask(text) == text


def test_a_password_that_is_called_pwd_is_one() -> None:
    value = "correct" + "-Horse-7"
    assert value not in Masker({"DB_PWD": value}).mask(f"it is {value}")
    assert value not in Masker({}).mask(f'pwd = "{value}"')


def test_k_01_a_long_text_is_taken_apart_between_its_lines_and_never_inside_a_key(masker: Masker) -> None:
    key = f"-----BEGIN RSA PRIVATE KEY-----\n{(RANDOM + chr(10)) * 40}-----END RSA PRIVATE KEY-----\n"
    line = "nothing of note here\n"
    for before in range(SLICE // len(line) - 60, SLICE // len(line) + 1, 6):
        text = line * before + key + "token=" + RANDOM + "\n" + line * (6 * SLICE // len(line))
        masked = masker.mask(text)
        assert RANDOM not in masked
        assert masked.startswith(line * before)
        assert masked.endswith(line)
    endless = "x" * (10 * SLICE)
    assert masker.mask(endless) == endless
    whole = (line + key) * 400
    assert "".join(slices(whole)) == whole


def test_l_03_l_04_a_long_text_is_masked_once_and_anew_where_more_is_known() -> None:
    value = "plain-words-" + "of-nobody"
    masker = Masker()
    long = f"begin {value} end\n" * 4_000
    assert masker.mask(long) is masker.mask(long)
    assert value in masker.mask(long)
    masker.learn([value])
    assert value not in masker.mask(long)
    for number in range(20):
        assert masker.mask(f"{number} {long}").startswith(f"{number} begin ")
    assert len(masker._kept) <= KEPT  # pyright: ignore[reportPrivateUsage] -- what is kept is to be bounded
