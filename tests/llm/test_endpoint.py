import copy
import dataclasses
import json

import pytest
from pydantic import SecretStr

from cg_pipeline.fingerprints import fingerprint
from cg_pipeline.llm.endpoint import Endpoint, Settings, judge_endpoint

KEY = "sk-very-secret-0123456789"
URL = "http://127.0.0.1:8080/v1"


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch):
    for name in ("BASE_URL", "MODEL", "API_KEY", "TIMEOUT_S", "MAX_RETRIES", "INPUT_PRICE", "OUTPUT_PRICE"):
        monkeypatch.delenv(f"CG_LLM_{name}", raising=False)
        monkeypatch.delenv(f"CG_JUDGE_{name}", raising=False)


def set_all(monkeypatch, **values):
    for name, value in {"MODEL": "m", **values}.items():
        monkeypatch.setenv(f"CG_LLM_{name}", value)


def test_nothing_set_means_no_endpoint(monkeypatch):
    assert Endpoint.from_environment() is None
    monkeypatch.setenv("CG_LLM_BASE_URL", "  ")
    monkeypatch.setenv("CG_LLM_API_KEY", KEY)
    assert Endpoint.from_environment() is None


def test_everything_set_is_read(monkeypatch):
    set_all(
        monkeypatch,
        BASE_URL=URL + "/",
        API_KEY=f"{KEY}\n",
        TIMEOUT_S="2.5",
        MAX_RETRIES="0",
        INPUT_PRICE="2",
        OUTPUT_PRICE="8",
    )
    endpoint = Endpoint.from_environment()
    assert endpoint == Endpoint(
        base_url=URL,
        model="m",
        api_key=SecretStr(KEY),
        timeout_s=2.5,
        max_retries=0,
        input_price=2.0,
        output_price=8.0,
    )
    assert endpoint.cost(1_000_000, 500_000) == 6.0


def test_a_local_server_needs_address_and_model_only(monkeypatch):
    set_all(monkeypatch, BASE_URL=URL)
    endpoint = Endpoint.from_environment()
    assert endpoint is not None
    assert endpoint.api_key is None
    assert endpoint.cost(1, 1) is None


@pytest.mark.parametrize(("given", "missing"), [("BASE_URL", "MODEL"), ("MODEL", "BASE_URL")])
def test_half_set_is_one_clear_sentence(monkeypatch, given, missing):
    monkeypatch.setenv(f"CG_LLM_{given}", URL)
    with pytest.raises(ValueError, match="expected both or neither") as error:
        Endpoint.from_environment()
    assert str(error.value) == (
        f"CG_LLM_{given} is set but CG_LLM_{missing} is not; expected both or neither. "
        f"Set CG_LLM_{missing}, or unset CG_LLM_{given} to go without an LLM."
    )


@pytest.mark.parametrize(
    ("variable", "value", "message"),
    [
        ("TIMEOUT_S", "0", "CG_LLM_TIMEOUT_S is '0'; expected a number above 0."),
        ("TIMEOUT_S", "soon", "CG_LLM_TIMEOUT_S is 'soon'; expected a number above 0."),
        ("TIMEOUT_S", "inf", "CG_LLM_TIMEOUT_S is 'inf'; expected a number above 0."),
        ("MAX_RETRIES", "-1", "CG_LLM_MAX_RETRIES is '-1'; expected a whole number from 0 to 20."),
        ("MAX_RETRIES", "2.5", "CG_LLM_MAX_RETRIES is '2.5'; expected a whole number from 0 to 20."),
        ("MAX_RETRIES", "21", "CG_LLM_MAX_RETRIES is '21'; expected a whole number from 0 to 20."),
        ("OUTPUT_PRICE", "-3", "CG_LLM_OUTPUT_PRICE is '-3'; expected a number of at least 0."),
        (
            "INPUT_PRICE",
            "3",
            "CG_LLM_INPUT_PRICE is 3.0 and CG_LLM_OUTPUT_PRICE is None; expected both or neither.",
        ),
    ],
)
def test_an_unusable_variable_is_named(monkeypatch, variable, value, message):
    set_all(monkeypatch, BASE_URL=URL, **{variable: value})
    with pytest.raises(ValueError, match=variable) as error:
        Endpoint.from_environment()
    assert str(error.value).startswith(message)


@pytest.mark.parametrize(
    "address",
    [
        KEY,
        "ftp://host/v1",
        "http:///v1",
        "http://[::1",
        "http://h:99999/v1",
        "http://a b/v1",
        "http://h/v1\x00",
    ],
)
def test_a_wrong_address_is_refused_without_being_quoted(address):
    with pytest.raises(ValueError, match="CG_LLM_BASE_URL is not an http or https address") as error:
        Endpoint(base_url=address, model="m")
    assert address not in str(error.value)


@pytest.mark.parametrize(
    "address", ["https://u:hunter2@h/v1", "https://h/v1?key=hunter2", "https://h/v1#hunter2"]
)
def test_secrets_do_not_belong_in_the_address(address):
    with pytest.raises(ValueError, match="Put the key in CG_LLM_API_KEY") as error:
        Endpoint(base_url=address, model="m")
    assert "hunter2" not in str(error.value)


@pytest.mark.parametrize("model", [" ", "m\udcff", "m\n"])
def test_a_model_name_that_cannot_be_sent_is_refused(model):
    with pytest.raises(ValueError, match=r"CG_LLM_MODEL is .*; expected the model's name") as error:
        Endpoint(base_url=URL, model=model)
    assert str(error.value).isascii()


@pytest.mark.parametrize("key", ["sk-a b-secret", "sk-secret\nX-Evil: 1", "sk-sécret"])
def test_a_key_that_is_no_header_is_refused_without_being_quoted(key):
    with pytest.raises(ValueError, match="CG_LLM_API_KEY holds blanks") as error:
        Endpoint(base_url=URL, model="m", api_key=SecretStr(key))
    assert key not in str(error.value)


def test_the_key_is_never_printed_and_has_no_fingerprint():
    with_key = Endpoint(base_url=URL, model="m", api_key=SecretStr(KEY))
    for text in (repr(with_key), str(with_key), f"{dataclasses.asdict(with_key)}", repr(copy.copy(with_key))):
        assert KEY not in text
    with pytest.raises(TypeError, match="has no fingerprint") as error:
        fingerprint(with_key)
    assert KEY not in str(error.value)


def test_redaction_spares_placeholders():
    secret = Endpoint(base_url=URL, model="m", api_key=SecretStr(KEY))
    assert secret.redact(f"Wrong key {KEY}.") == "Wrong key [key]."
    placeholder = Endpoint(base_url=URL, model="m", api_key=SecretStr("none"))
    assert placeholder.redact("none of it") == "none of it"


@pytest.mark.parametrize("key", [KEY, "sk/with/slashes", 'sk"quote\\back'])
def test_redaction_sees_through_escapes(key):
    secret = Endpoint(base_url=URL, model="m", api_key=SecretStr(key))
    once = json.dumps(key)[1:-1]
    coded = "".join(f"\\u{ord(character):04X}" for character in key)
    for form in (key, once, json.dumps(once)[1:-1], once.replace("/", "\\/"), coded, coded.lower()):
        assert secret.redact(f"Wrong {form}.") == "Wrong [key]."


def test_redaction_is_quick_on_many_backslashes():
    secret = Endpoint(base_url=URL, model="m", api_key=SecretStr("\\\\" + KEY))
    text = "\\" * 100_000
    assert secret.redact(text) == text


@pytest.mark.parametrize(
    ("address", "loopback"),
    [
        ("http://127.0.0.1:1/v1", True),
        ("http://127.8.8.8/v1", True),
        ("http://[::1]:8000/v1", True),
        ("http://LOCALHOST/v1", True),
        ("http://llm.localhost/v1", True),
        ("https://api.example.org/v1", False),
        ("http://10.0.0.1/v1", False),
        ("http://localhost.example.org/v1", False),
    ],
)
def test_loopback_addresses_are_told_apart(address, loopback):
    assert Endpoint(base_url=address, model="m").is_loopback is loopback


def test_without_variables_of_its_own_the_judge_is_the_namer(monkeypatch):
    assert judge_endpoint() is None
    set_all(monkeypatch, BASE_URL=URL, API_KEY=KEY)
    assert judge_endpoint() == Endpoint.from_environment()


def test_a_judge_of_its_own_is_taken_whole(monkeypatch):
    """The namer's key belongs to the namer's server, and is sent nowhere else."""
    set_all(monkeypatch, BASE_URL=URL, API_KEY=KEY, TIMEOUT_S="3")
    monkeypatch.setenv("CG_JUDGE_BASE_URL", "http://judge.example/v1/")
    monkeypatch.setenv("CG_JUDGE_MODEL", "judge")
    assert judge_endpoint() == Endpoint(
        base_url="http://judge.example/v1", model="judge", settings=Settings.of("CG_JUDGE")
    )


@pytest.mark.parametrize(
    ("variables", "complaint"),
    [
        ({"MODEL": "m"}, "CG_JUDGE_MODEL is set but CG_JUDGE_BASE_URL is not; expected both or neither"),
        ({"MODEL": "m", "BASE_URL": "here"}, "CG_JUDGE_BASE_URL is not an http or https address"),
        ({"MODEL": "m", "BASE_URL": URL, "API_KEY": "a b"}, "CG_JUDGE_API_KEY holds blanks"),
        (
            {"MODEL": "m", "BASE_URL": URL, "TIMEOUT_S": "0"},
            "CG_JUDGE_TIMEOUT_S is '0'; expected",
        ),
    ],
)
def test_a_fault_names_the_judges_variable(monkeypatch, variables, complaint):
    set_all(monkeypatch, BASE_URL=URL)
    for name, value in variables.items():
        monkeypatch.setenv(f"CG_JUDGE_{name}", value)
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - its beginning is compared
        judge_endpoint()
    assert str(caught.value).startswith(complaint)
