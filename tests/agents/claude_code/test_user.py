"""Lines of type user: prompts, results, and what the agent puts in the user's mouth."""

from typing import Any

import pytest

from tests.reading.reading import event
from unspool.model import Image, Notice, Result, Unknown

DOT = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0="}}
ANSWER = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "done"}


def line(content: Any, **extra: Any) -> dict[str, Any]:
    message = {"role": "user", "content": content}
    return {"type": "user", "uuid": "u", "parentUuid": None, "sessionId": "s", "message": message, **extra}


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def test_a_string_is_a_prompt() -> None:
    found = event(line("Fix it", permissionMode="plan", promptSource="typed"))
    assert found.kind == "prompt"
    assert found.prompt is not None
    assert (found.prompt.kind, found.prompt.text, found.prompt.mode, found.prompt.origin) == (
        "text",
        "Fix it",
        "plan",
        "typed",
    )


def test_a_prompt_of_text_and_picture_holds_both() -> None:
    found = event(line([text("Look"), DOT]))
    assert found.prompt is not None
    assert found.prompt.text == "Look"
    assert [(image.media_type, image.data) for image in found.prompt.images] == [("image/png", "iVBORw0=")]


def test_a_picture_alone_is_a_prompt() -> None:
    found = event(line([DOT]))
    assert found.prompt is not None
    assert len(found.prompt.images) == 1


PICTURES: list[tuple[dict[str, Any], dict[str, str]]] = [
    ({"type": "image", "source": {"type": "url", "url": "https://x/y.png"}}, {"url": "https://x/y.png"}),
    ({"type": "image", "source": {"type": "file", "file_id": "f1"}}, {"path": "f1"}),
    ({"type": "image", "path": "/tmp/a.png"}, {"path": "/tmp/a.png"}),
    ({"type": "image", "url": "https://x/z.png"}, {"url": "https://x/z.png"}),
    (
        {
            "type": "document",
            "source": {"type": "base64", "media_type": "application/pdf", "data": "JVBE"},
            "title": "T",
        },
        {"media_type": "application/pdf", "data": "JVBE", "label": "T"},
    ),
]


@pytest.mark.parametrize(("block", "fields"), PICTURES)
def test_pictures_and_documents_are_read_in_every_shape(block: dict[str, Any], fields: dict[str, str]) -> None:
    found = event(line([block]))
    assert found.prompt is not None
    (image,) = found.prompt.images
    assert isinstance(image, Image)
    assert {name: getattr(image, name) for name in fields} == fields


def test_a_document_of_text_keeps_its_text() -> None:
    found = event(
        line(
            [
                {
                    "type": "document",
                    "source": {"type": "text", "media_type": "text/plain", "data": "words"},
                    "title": "T",
                }
            ]
        )
    )
    assert found.prompt is not None
    (image,) = found.prompt.images
    assert "words" in (image.data, image.label)


def test_a_result_is_no_prompt_and_keeps_its_structured_twin() -> None:
    found = event(line([ANSWER], toolUseResult={"stdout": "done"}))
    assert (found.kind, found.prompt) == ("result", None)
    (result,) = found.blocks
    assert isinstance(result, Result)
    assert (result.call_id, result.text, result.error, result.detail) == ("toolu_1", "done", False, {"stdout": "done"})


def test_words_beside_a_result_are_a_note() -> None:
    found = event(line([ANSWER, text("mind the gap")]))
    assert found.prompt is None
    assert [type(block) for block in found.blocks] == [Result, Notice]


INJECTED = [
    ({"isMeta": True}, "meta"),
    ({"isMeta": True, "sourceToolUseID": "toolu_1"}, "skill"),
    ({"isCompactSummary": True}, "summary"),
    ({"origin": {"kind": "task-notification"}}, "task-notification"),
    ({"origin": {"kind": "peer"}}, "peer"),
    ({"origin": {"kind": "coordinator"}}, "coordinator"),
    ({"promptSource": "system"}, "meta"),
]


@pytest.mark.parametrize(("extra", "kind"), INJECTED)
def test_words_that_no_person_typed_are_a_notice(extra: dict[str, Any], kind: str) -> None:
    found = event(line("Words", **extra))
    assert found.prompt is None
    assert [(block.kind, block.text) for block in found.blocks if isinstance(block, Notice)] == [(kind, "Words")]


@pytest.mark.parametrize(
    "extra",
    [
        {"origin": {"kind": "human"}},
        {"promptSource": "queued"},
        {"promptSource": "sdk"},
        {"promptSource": "suggestion_accepted"},
    ],
)
def test_words_that_a_person_sent_are_a_prompt_however_they_came(extra: dict[str, Any]) -> None:
    assert event(line("Words", **extra)).prompt is not None


def test_a_picture_that_the_agent_describes_is_a_notice() -> None:
    found = event(line([text("[Image: source: /tmp/a.png]")], isMeta=True))
    assert found.prompt is None
    assert found.blocks


def test_an_ide_notice_in_a_block_of_its_own_leaves_the_prompt_clean() -> None:
    found = event(line([text("<ide_opened_file>a.py</ide_opened_file>"), text("Fix it")]))
    assert found.prompt is not None
    assert found.prompt.text == "Fix it"
    assert [block.kind for block in found.blocks if isinstance(block, Notice)] == ["ide"]


def test_an_ide_notice_alone_begins_nothing() -> None:
    assert event(line("<ide_selection>x</ide_selection>")).prompt is None


def test_an_empty_prompt_begins_nothing() -> None:
    assert event(line("  ")).prompt is None


def test_unknown_blocks_are_kept_whole() -> None:
    block = {"type": "hologram", "beam": [1, 2]}
    found = event(line([text("See"), block]))
    assert found.prompt is not None
    assert [(one.what, one.data) for one in found.blocks if isinstance(one, Unknown)] == [("hologram", block)]


@pytest.mark.parametrize("content", [7, {"type": "text"}, True])
def test_content_of_a_strange_type_is_kept(content: Any) -> None:
    found = event(line(content))
    assert [one.data for one in found.blocks if isinstance(one, Unknown)] == [content]


def test_strings_among_the_blocks_are_text() -> None:
    found = event(line(["Fix", text("it")]))
    assert found.prompt is not None
    assert found.prompt.text == "Fix\nit"


def test_a_bash_line_is_a_prompt_of_its_own_kind() -> None:
    found = event(line("<bash-input>ls -la</bash-input>"))
    assert found.prompt is not None
    assert (found.prompt.kind, found.prompt.text) == ("bash", "ls -la")


def test_a_memory_is_a_prompt_of_its_own_kind() -> None:
    found = event(line("<user-memory-input>use tabs</user-memory-input>"))
    assert found.prompt is not None
    assert (found.prompt.kind, found.prompt.text) == ("memory", "use tabs")


def test_a_command_is_a_prompt_with_name_and_arguments() -> None:
    found = event(
        line(
            "<command-name>/model</command-name><command-message>model</command-message><command-args>opus</command-args>"
        )
    )
    assert found.prompt is not None
    assert (found.prompt.kind, found.prompt.command, found.prompt.arguments) == ("command", "/model", "opus")
