"""What is remembered of a conversation: the newest, within bounds, and what the tools returned for it."""

import pytest
from tests.agent.asking import asker
from tests.agent.scripted_endpoint import Reply, Request, ScriptedEndpoint, calls, says

from qortal_mcp.agent.conversation import Conversation
from qortal_mcp.agent.limits import AgentLimits
from qortal_mcp.agent.model.messages import Message

LIMITS = AgentLimits(history_chars=1_000, kept_results_bytes=10_000)


def talked(turns: int, *, answer: str = "answer {}", result: str = "result {}") -> Conversation:
    found = Conversation(LIMITS)
    for number in range(turns):
        found.add(f"question {number}", answer.format(number), (result.format(number),))
    return found


def questions(messages: list[Message]) -> list[str]:
    return [message.content for message in messages if message.role == "user"]


def test_the_newest_of_sixty_turns_are_there_and_the_oldest_are_gone() -> None:
    found = talked(60)
    asked = questions(found.messages(10_000))
    assert 40 < len(asked) < 60
    assert asked == [f"question {number}" for number in range(60 - len(asked), 60)]
    assert found.results == [f"result {number}" for number in range(60 - len(asked), 60)]


def test_questions_and_answers_alternate_oldest_first() -> None:
    messages = talked(3).messages(10_000)
    assert [message.role for message in messages] == ["user", "assistant"] * 3
    assert [message.content for message in messages[:2]] == ["question 0", "answer 0"]


@pytest.mark.parametrize("chars", [0, 10, 17, 18, 40, 100, 999, 5_000])
def test_only_what_fits_is_sent_and_always_something_of_the_newest(chars: int) -> None:
    found = talked(60)
    messages = found.messages(chars)
    assert messages[-2].role == "user"
    assert questions(messages)[-1].startswith("question 59"[: chars // 4])
    if chars >= 22:
        assert sum(len(message.content) for message in messages) <= chars
        assert questions(messages)[-1] == "question 59"


def test_a_newest_answer_that_is_too_long_is_cut_and_says_so() -> None:
    found = talked(2, answer="long answer {} " + "word " * 1_500)
    [question, answer] = found.messages(800)
    assert question.content == "question 1"
    assert answer.content.startswith("long answer 1")
    assert "… [cut: the first " in answer.content
    assert len(answer.content) < 900


def test_nothing_was_said_at_first_and_nothing_after_it_is_cleared() -> None:
    found = Conversation(LIMITS)
    assert (len(found), found.messages(1_000), found.results) == (0, [], [])
    found = talked(5)
    assert len(found) == 5
    found.clear()
    assert (len(found), found.messages(1_000), found.results) == (0, [], [])


def test_results_are_kept_within_bounds_the_newest_first() -> None:
    found = talked(30, result="{} " + "x" * 997)
    assert 5 <= len(found) < 12
    assert sum(map(len, found.results)) <= LIMITS.kept_results_bytes
    assert found.results[-1].startswith("29 ")
    # One question whose results alone are too much.
    found.add("all", "of it", tuple(f"{number} " + "y" * 998 for number in range(50)))
    assert sum(map(len, found.results)) <= LIMITS.kept_results_bytes
    assert found.results[-1].startswith("49 ")


async def test_a_number_of_an_earlier_result_is_grounded_until_the_conversation_is_reset() -> None:
    script = [
        calls(("get_node_status", {})),
        says("The height is 596."),
        says("As said, 596."),
        says("It was 596."),
    ]
    with ScriptedEndpoint(script) as endpoint:
        async with asker(endpoint) as talk:
            first = await talk.ask("How high is the chain?")
            second = await talk.ask("Are you sure?")
            talk.agent.conversation.clear()
            third = await talk.ask("And before?")
    assert [len(one.grounding.not_from_a_tool) for one in (first, second, third)] == [0, 0, 1]
    assert second.calls == ()
    sent = [[message["content"] for message in chat.body["messages"][1:]] for chat in endpoint.chats]
    assert sent[2] == ["How high is the chain?", "The height is 596.", "Are you sure?"]
    assert sent[3] == ["And before?"]


async def test_many_questions_do_not_make_prompts_grow_without_bound() -> None:
    def model(request: Request) -> Reply:
        return says(f"{len(request.body['messages'])} messages. " + "word " * 400)

    limits = AgentLimits(history_chars=10_000)
    with ScriptedEndpoint(model) as endpoint:
        async with asker(endpoint, limits=limits) as talk:
            for number in range(20):
                await talk.ask(f"Question {number}?")
    last = [
        message["content"] for message in endpoint.chats[-1].body["messages"] if message["role"] == "user"
    ]
    assert last == [f"Question {number}?" for number in range(20 - len(last), 20)]
    assert 3 < len(last) < 7


async def test_an_unanswered_question_is_not_remembered() -> None:
    with ScriptedEndpoint([says(""), says(""), says("Yes.")]) as endpoint:
        async with asker(endpoint) as talk:
            await talk.ask("First?")
            await talk.ask("Second?")
    assert [message["content"] for message in endpoint.chats[-1].body["messages"][1:]] == ["Second?"]
