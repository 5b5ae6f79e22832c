"""Each promise and the tests that prove it. `test_requirements.py` keeps both sides honest.

Rows R and X are the acceptance list distilled from the audits of the earlier server. A test is named as
`file::function`; files are relative to this folder. A promise that is kept otherwise says how in `reason`.
"""

from msgspec import Struct

GATEWAY = "test_mcp_gateway.py::"


class Promise(Struct, frozen=True):
    """What we promise, and where it is proved."""

    id: str
    text: str
    tests: tuple[str, ...] = ()
    reason: str = ""


def gateway(id_: str, text: str, *names: str, reason: str = "") -> Promise:
    """A promise proved through the door, by test names without their prefix."""
    return Promise(id_, text, tuple(f"{GATEWAY}test_{name}" for name in names), reason)


HANDSHAKE = (
    gateway(
        "R1",
        "initialize is answered with a result",
        "initialize_answers_with_version_info_and_capabilities_and_nothing_unexpected",
    ),
    gateway(
        "R2",
        "extra members and empty capabilities never make it fail",
        "initialize_tolerates_extra_members_and_missing_capabilities",
    ),
    gateway(
        "R3",
        "its result has nothing unexpected",
        "initialize_answers_with_version_info_and_capabilities_and_nothing_unexpected",
    ),
    gateway(
        "R4",
        "one name and one version everywhere",
        "the_manifest_says_what_the_server_is",
        "initialize_answers_with_version_info_and_capabilities_and_nothing_unexpected",
    ),
    gateway(
        "R5",
        "the tools capability is declared",
        "initialize_answers_with_version_info_and_capabilities_and_nothing_unexpected",
    ),
    gateway(
        "R6",
        "listChanged is the boolean false",
        "initialize_answers_with_version_info_and_capabilities_and_nothing_unexpected",
    ),
    Promise(
        "R7",
        "no list_changed is ever sent",
        ("qortal/test_conversation.py::test_nothing_is_sent_that_was_not_asked_for",),
    ),
    gateway(
        "R8",
        "a supported version is answered with itself",
        "initialize_answers_a_supported_version_with_itself",
    ),
    gateway(
        "R9",
        "an unknown version is answered with the newest handshake",
        "initialize_answers_any_other_version_with_the_newest_handshake",
    ),
    gateway(
        "R10",
        "an unknown modern version is error -32022 with 400",
        "a_modern_request_with_an_unknown_version_hears_which_ones_exist",
    ),
    gateway(
        "R11",
        "initialize is not refused needlessly",
        "initialize_tolerates_extra_members_and_missing_capabilities",
    ),
    gateway("R12", "initialize without a version is malformed", "initialize_without_a_version_is_malformed"),
    gateway(
        "R13",
        "all five revisions are served",
        "initialize_answers_a_supported_version_with_itself",
        "discover_names_the_modern_revision",
    ),
    gateway(
        "R14",
        "notifications/initialized is accepted",
        "initialized_and_any_other_notification_gets_202_and_no_body",
    ),
    gateway(
        "R15",
        "its answer is 202 without a body",
        "initialized_and_any_other_notification_gets_202_and_no_body",
    ),
    gateway(
        "R16",
        "the bare name initialized is tolerated without an id only",
        "initialized_and_any_other_notification_gets_202_and_no_body",
        "initialized_as_a_request_is_an_unknown_method",
    ),
    Promise(
        "R17",
        "the server sends no requests of its own",
        ("qortal/test_conversation.py::test_nothing_is_sent_that_was_not_asked_for",),
    ),
    Promise(
        "R18",
        "tool calls before initialize are served on HTTP, refused on lasting connections",
        (
            f"{GATEWAY}test_a_tool_call_before_initialize_is_served",
            "qortal/test_conversation.py::test_a_call_before_the_handshake_is_refused_on_a_lasting_connection",
        ),
    ),
    gateway(
        "R19",
        "initialize, initialized, tools/list, tools/call work in this order",
        "the_usual_sequence_works_on_one_server",
    ),
    gateway("R20", "only what exists is advertised", "every_advertised_capability_answers_its_list_method"),
    gateway(
        "R21",
        "real clients list and call every tool",
        "tools_list_gives_every_tool_a_description_and_precise_schemas",
        reason="scripts/interop runs Codex, Claude Code and the official clients against every tool",
    ),
)

METHODS = (
    gateway("R22", "list_tools is tools/list", "the_old_method_names_are_aliases"),
    gateway("R23", "call_tool is tools/call", "the_old_method_names_are_aliases"),
    gateway("R24", "the standard form {name, arguments}", "an_object_result_is_one_text_with_the_same_json"),
    gateway("R25", "the old form {tool, params} works", "the_old_parameter_form_works_as_an_alias"),
    gateway(
        "R26",
        "the standard form wins where both are present",
        "the_standard_form_wins_where_both_are_present",
    ),
    *(
        gateway(id_, text, "tools_list_gives_every_tool_a_description_and_precise_schemas")
        for id_, text in (
            ("R27", "tools/list gives an object with an array"),
            ("R28", "every tool has name, description and inputSchema and no foreign member"),
            ("R29", "every inputSchema is an object with properties"),
            ("R30", "schemas are precise and portable"),
            ("R31", "every tool has an outputSchema and says it is read-only"),
        )
    ),
)

JSON_RPC_ERRORS = (
    gateway("R32", "every reply has its id", "a_burst_of_calls_gets_every_id_back"),
    gateway("R33", "what is not JSON is -32700", "malformed_json_is_a_parse_error"),
    gateway(
        "R34", "a malformed envelope is -32600", "a_malformed_envelope_is_an_invalid_request_with_its_id"
    ),
    gateway("R35", "an unknown method is -32601", "unknown_method_is_a_top_level_error"),
    gateway("R36", "a call without a tool name is -32602", "malformed_call_params_are_refused_as_such"),
    gateway("R37", "absent arguments are none", "absent_arguments_count_as_none_given"),
    gateway("R38", "arguments that are no object are -32602", "malformed_call_params_are_refused_as_such"),
    Promise(
        "R39",
        "a fault is a JSON-RPC error, never a bare 500",
        (
            f"{GATEWAY}test_an_id_that_is_no_string_or_integer_is_malformed",
            "qortal/test_conversation.py::test_a_fault_outside_a_tool_is_an_internal_error",
        ),
    ),
    gateway("R40", "an unknown tool is -32602", "unknown_tool_is_an_error_of_the_request"),
    gateway(
        "R41", "a reply has a result or an error, never both", "replies_have_exactly_the_members_of_json_rpc"
    ),
    gateway("R42", "no foreign member in a success", "replies_have_exactly_the_members_of_json_rpc"),
    gateway("R43", "nor in an error", "replies_have_exactly_the_members_of_json_rpc"),
    gateway("R44", "params as an array are -32602", "malformed_call_params_are_refused_as_such"),
    gateway(
        "R45",
        "an unsupported version is a top-level error in the modern era",
        "a_modern_request_with_an_unknown_version_hears_which_ones_exist",
    ),
    Promise(
        "R46",
        "clients are told: look at error, then at isError",
        ("test_readme.py::test_the_readme_tells_where_to_look_for_errors",),
    ),
)

TOOL_RESULTS = (
    *(
        gateway(id_, text, "an_object_result_is_one_text_with_the_same_json")
        for id_, text in (
            ("R47", "content is always an array"),
            ("R48", "each item has a type and its data"),
            ("R49", "no item of type object"),
            ("R50", "an object: one text with the JSON and the same structured content"),
            ("R51", "the text is real JSON"),
            ("R56", "one item per result"),
            ("R60", "isError is false on success"),
            ("R65", "booleans and numbers arrive as such"),
        )
    ),
    gateway("R52", "text beyond ASCII stays readable", "text_beyond_ascii_stays_readable"),
    gateway(
        "R53", "a list is an array under its noun, in the text too", "a_list_result_sits_under_its_own_noun"
    ),
    gateway(
        "R54",
        "structured content is an object in every revision",
        "structured_content_is_an_object_in_every_revision",
    ),
    gateway("R55", "an empty list keeps its noun", "an_empty_list_result_keeps_its_noun"),
    *(
        Promise(id_, text, (f"server/test_wrapping.py::test_wrap_{name}",))
        for id_, text, name in (
            ("R57", "a string is text, wrapped where the tool declares it", "string"),
            ("R58", "a number or boolean is text, wrapped where declared", "number"),
            ("R59", "nothing is an empty content, never null", "none"),
            ("R64", "what cannot be serialised is an internal error, not a repr", "unserialisable"),
        )
    ),
    Promise(
        "R61",
        "only content is required of a result",
        (
            "client/test_result_schema.py::test_a_result_schema_needs_only_content",
            "audit/test_seed_stories.py::test_a_result_needs_only_content",
        ),
    ),
    gateway(
        "R62",
        "structured content is part of the protocol",
        "structured_content_is_an_object_in_every_revision",
    ),
    gateway(
        "R63",
        "structured content is sent in every revision",
        "structured_content_is_an_object_in_every_revision",
    ),
    gateway(
        "R66",
        "every tool has an outputSchema",
        "tools_list_gives_every_tool_a_description_and_precise_schemas",
    ),
    gateway("R67", "get_node_status has its five fields", "node_status_has_its_five_fields_with_their_types"),
    gateway(
        "R68",
        "an outputSchema's root is an object",
        "tools_list_gives_every_tool_a_description_and_precise_schemas",
    ),
    gateway("R69", "an offer has its seven fields", "a_list_result_sits_under_its_own_noun"),
    gateway(
        "R70",
        "validate_address of rubbish is a success that says false",
        "validate_address_answers_false_as_a_success",
    ),
    Promise(
        "R71",
        "what a tool returns fits its schema",
        ("qortal/test_tools.py::test_an_answer_keeps_to_its_contract",),
    ),
    Promise(
        "R72",
        "long lists are cut before they are sent",
        ("qortal/test_hostile_data.py::test_a_list_is_cut_at_a_record_and_goes_on_from_there",),
    ),
)

TOOL_ERRORS = (
    gateway(
        "R73",
        "a failed tool is a result with isError true",
        "a_tool_error_is_a_marked_result_with_the_plain_sentence",
    ),
    gateway(
        "R74", "the text is the message itself", "a_tool_error_is_a_marked_result_with_the_plain_sentence"
    ),
    gateway(
        "R75", "no structured content on errors", "a_tool_error_is_a_marked_result_with_the_plain_sentence"
    ),
    gateway(
        "R76",
        "no JSON-RPC error for what a tool could not do",
        "a_tool_error_is_a_marked_result_with_the_plain_sentence",
    ),
    Promise(
        "R77",
        "an error is wrapped once; no success hides one",
        ("qortal/test_node.py::test_a_fault_has_one_name_and_one_sentence",),
    ),
    Promise(
        "R78", "every exception in a tool ends as isError", ("server/test_wrapping.py::test_tool_raises",)
    ),
    Promise(
        "R79",
        "no trace, path or internal name reaches the client",
        ("server/test_wrapping.py::test_tool_raises",),
    ),
    gateway(
        "R80", "a dead node is said to be unreachable", "a_dead_node_is_said_to_be_unreachable_by_every_tool"
    ),
    Promise(
        "R81",
        "one text for one class of failure",
        ("qortal/test_node.py::test_a_fault_has_one_name_and_one_sentence",),
    ),
    Promise(
        "R82",
        "a refusing node is said to refuse",
        ("qortal/test_node.py::test_a_fault_has_one_name_and_one_sentence",),
    ),
    gateway("R83", "an unsupported service is an error", "unsupported_services_are_refused"),
    Promise(
        "R84",
        "not found is told from the node's codes",
        (
            f"{GATEWAY}test_an_address_nobody_used_is_not_found",
            "qortal/test_node.py::test_a_fault_has_one_name_and_one_sentence",
        ),
    ),
    Promise(
        "R85",
        "what goes wrong at the node arrives as isError",
        ("qortal/test_node.py::test_a_fault_has_one_name_and_one_sentence",),
    ),
    gateway(
        "R86",
        "the rate limit is a tool error with its id",
        "rate_limit_refusals_are_tool_errors_with_their_id",
    ),
    gateway(
        "R87",
        "failures are failures in logs and metrics",
        "a_failed_call_counts_as_a_failure_in_metrics_and_log",
    ),
)

QORTAL = "qortal/test_tools.py::test_"
HOSTILE = "qortal/test_hostile_data.py::test_"
READ_ONLY = "qortal/test_read_only.py::test_only_allow_listed_gets_leave_whatever_a_tool_is_called_with"

INPUT = (
    Promise(
        "R88",
        "addresses are checked, checksum included, before the node is asked",
        (f"{QORTAL}bad_arguments_never_reach_the_node", f"{QORTAL}validity_is_told_without_a_node"),
    ),
    Promise(
        "R89",
        "invalid input never reaches the node",
        (READ_ONLY, f"{QORTAL}bad_arguments_never_reach_the_node"),
    ),
    Promise(
        "R90",
        "a limit above the maximum is lowered, and said",
        (f"{QORTAL}a_limit_above_the_most_is_lowered_and_said",),
    ),
    Promise(
        "R91",
        "a list always has a limit",
        ("qortal/test_bounded_lists.py::test_a_list_has_a_limit_even_if_nobody_gives_one",),
    ),
    Promise(
        "R92",
        "a limit below 1 is refused",
        (
            f"{QORTAL}bad_arguments_never_reach_the_node",
            "qortal/test_bounded_lists.py::test_no_list_can_be_asked_for_as_a_whole",
        ),
    ),
    Promise(
        "R93", "one filter is enough to search QDN", (f"{QORTAL}a_service_has_a_code_and_a_name_in_any_case",)
    ),
    Promise("R94", "QDN searches give 10, at most 20", ("test_golden.py::test_a_tool_looks_as_it_did",)),
    gateway("R95", "unknown service codes are refused", "unsupported_services_are_refused"),
    Promise("R96", "schemas say patterns and choices", (f"{QORTAL}definitions_are_portable",)),
    gateway(
        "R97",
        "unknown argument names are answered with the valid ones",
        "unknown_argument_names_are_answered_with_the_valid_ones",
    ),
    Promise(
        "R98",
        "overlong strings are refused",
        (READ_ONLY, f"{GATEWAY}test_an_oversized_body_is_refused_before_it_is_read"),
    ),
    Promise("R99", "numbers are whole and within range", (f"{QORTAL}bad_arguments_never_reach_the_node",)),
    Promise(
        "R100",
        "filters outside the allowed set are refused",
        (f"{QORTAL}bad_arguments_never_reach_the_node",),
    ),
)

OUTPUT = (
    Promise(
        "R101",
        "long lists are cut and say how to go on",
        (f"{HOSTILE}a_list_is_cut_at_a_record_and_goes_on_from_there",),
    ),
    Promise(
        "R102",
        "names in the account overview are bounded",
        (f"{HOSTILE}more_names_than_fit_are_cut_and_marked",),
    ),
    Promise(
        "R103",
        "a QDN search never returns content",
        (f"{QORTAL}a_publication_tells_who_what_when_and_how_big",),
    ),
    Promise(
        "R104",
        "QDN metadata has name, service, size and time",
        (f"{QORTAL}a_publication_tells_who_what_when_and_how_big",),
    ),
    Promise(
        "R105",
        "binary data is summarised",
        ("qortal/test_chat_tools.py::test_what_is_encrypted_or_binary_is_marked_and_not_shown",),
    ),
    Promise(
        "R106",
        "very long text is cut with a mark",
        ("qortal/test_chat_tools.py::test_a_long_message_is_cut_in_a_list_and_whole_by_itself",),
    ),
    gateway("R107", "no key or setting appears in any output", "no_address_or_secret_is_logged_by_default"),
    Promise(
        "R108",
        "limits are documented from the code",
        ("test_docs.py::test_the_tables_in_a_written_document_are_what_the_code_says",),
    ),
    Promise(
        "R109",
        "fields agree between documents and code",
        ("test_docs.py::test_a_generated_file_is_what_the_code_says",),
    ),
)

ASSET_BALANCES = (
    Promise("R110", "asset balances are on by default and bounded", (f"{QORTAL}an_account_at_a_glance",)),
    Promise(
        "R111",
        "balances are exact decimal strings",
        (
            f"{QORTAL}balances_are_exact",
            "qortal/test_amounts.py::test_every_way_core_writes_an_amount_is_put_right",
        ),
    ),
    Promise(
        "R112",
        "at most 20 assets, zero ones on request",
        (
            f"{HOSTILE}more_assets_than_fit_are_cut_and_marked",
            f"{QORTAL}qort_is_listed_once_beside_the_assets_asked_for",
        ),
    ),
    Promise("R113", "they are read from the node's list of balances", (f"{QORTAL}an_account_at_a_glance",)),
    Promise("R114", "QORT is listed once", (f"{QORTAL}qort_is_listed_once_beside_the_assets_asked_for",)),
    Promise("R115", "offline tests prove it", (f"{QORTAL}qort_is_listed_once_beside_the_assets_asked_for",)),
)

SECURITY = (
    Promise("R155", "nothing that changes state can be asked", (READ_ONLY,)),
    Promise(
        "R156",
        "only allow-listed addresses are asked",
        (
            READ_ONLY,
            "qortal/test_read_only.py::test_the_allow_list_holds_what_core_lets_everybody_read_and_nothing_else",
        ),
    ),
    Promise("R157", "secrets are refused", (f"{QORTAL}secrets_are_refused_and_not_repeated",)),
    Promise(
        "R158",
        "no API key is read or sent",
        (
            "qortal/test_node.py::test_requests_are_plain_gets_without_anything_of_ours",
            f"{GATEWAY}test_no_address_or_secret_is_logged_by_default",
        ),
    ),
    Promise("R159", "limits only become tighter", ("test_golden.py::test_no_limit_has_grown",)),
    Promise(
        "R160",
        "what is unknown is refused",
        (
            "cli/test_program.py::test_wrong_usage_is_one_line_on_standard_error_and_exit_code_2",
            f"{GATEWAY}test_a_foreign_origin_is_refused_on_every_route",
        ),
    ),
)

LOGGING = (
    gateway(
        "R116",
        "a request is one line at debug",
        "each_call_is_one_debug_line_with_method_tool_ids_outcome_and_time",
        "a_failed_call_counts_as_a_failure_in_metrics_and_log",
    ),
    gateway("R117", "no arguments or payloads in logs", "no_address_or_secret_is_logged_by_default"),
    gateway(
        "R118",
        "initialize is logged with both versions and the name",
        "initialize_is_logged_with_both_versions_and_the_name",
    ),
    gateway("R119", "keys and headers are never logged", "no_address_or_secret_is_logged_by_default"),
    gateway("R120", "quiet by default", "no_address_or_secret_is_logged_by_default"),
    gateway(
        "R121",
        "a request id in the log and in X-Request-ID",
        "each_call_is_one_debug_line_with_method_tool_ids_outcome_and_time",
        "every_reply_carries_a_request_id",
    ),
    gateway(
        "R122", "a note when a client has initialized", "initialize_is_logged_with_both_versions_and_the_name"
    ),
)

README = "test_readme.py::test_"
DOCUMENTS = (
    Promise(
        "R123",
        "README: revisions and set-up of Codex and Claude",
        (f"{README}the_readme_shows_how_to_set_up_clients",),
    ),
    Promise(
        "R124",
        "README: a curl for initialize that works",
        (f"{README}the_curl_commands_of_the_readme_give_what_it_shows",),
    ),
    Promise(
        "R125",
        "README: a call and its reply",
        (f"{README}the_curl_commands_of_the_readme_give_what_it_shows",),
    ),
    Promise("R126", "README lists the tools", (f"{README}the_readme_lists_every_tool",)),
    Promise("R127", "README presents the MCP door", (f"{README}the_readme_says_that_there_is_no_rest_door",)),
    Promise(
        "R128",
        "the design document tells handshake, methods, aliases, results and errors",
        (f"{README}the_design_document_covers_the_wire",),
    ),
    Promise("R129", "its examples say what they are", (f"{README}the_design_document_covers_the_wire",)),
    gateway(
        "R130",
        "the manifest's endpoint, name and version are the server's",
        "the_manifest_says_what_the_server_is",
    ),
    gateway("R131", "the manifest lists the supported revisions", "the_manifest_says_what_the_server_is"),
    gateway("R132", "the manifest lists the tools with descriptions", "the_manifest_says_what_the_server_is"),
    gateway(
        "R133",
        "the manifest declares transports, authentication and capabilities",
        "the_manifest_says_what_the_server_is",
    ),
    Promise(
        "R134",
        "documents say why 404 on the OAuth path is fine",
        (
            f"{README}the_readme_explains_the_oauth_404",
            f"{GATEWAY}test_oauth_and_the_old_rest_routes_are_404",
        ),
    ),
    Promise(
        "R135", "the documents tell one story", ("test_docs.py::test_a_generated_file_is_what_the_code_says",)
    ),
    Promise(
        "R136",
        "the change log tells of the result format",
        (f"{README}the_change_log_tells_of_the_result_format",),
    ),
    Promise(
        "R137", "this table is kept", ("test_requirements.py::test_every_promise_names_tests_that_exist",)
    ),
)

TESTS = (
    gateway(
        "R138",
        "initialize is tested",
        "initialize_answers_with_version_info_and_capabilities_and_nothing_unexpected",
    ),
    gateway("R139", "initialized is tested", "initialized_and_any_other_notification_gets_202_and_no_body"),
    gateway("R140", "tools/list is tested", "tools_list_gives_every_tool_a_description_and_precise_schemas"),
    gateway(
        "R141",
        "both call spellings are tested",
        "the_old_method_names_are_aliases",
        "the_old_parameter_form_works_as_an_alias",
    ),
    gateway("R142", "unknown methods are tested", "unknown_method_is_a_top_level_error"),
    gateway(
        "R143",
        "malformed requests are tested",
        "malformed_json_is_a_parse_error",
        "malformed_call_params_are_refused_as_such",
    ),
    gateway("R144", "unknown tools are tested", "unknown_tool_is_an_error_of_the_request"),
    gateway("R145", "validate_address through the door", "validate_address_answers_false_as_a_success"),
    gateway("R146", "a list through the door", "a_list_result_sits_under_its_own_noun"),
    gateway("R147", "an error through the door", "a_tool_error_is_a_marked_result_with_the_plain_sentence"),
    Promise("R148", "an exception inside a tool", ("server/test_wrapping.py::test_tool_raises",)),
    Promise(
        "R149",
        "invalid input for each tool",
        ("qortal/test_tools.py::test_bad_arguments_never_reach_the_node",),
    ),
    gateway("R150", "several calls in a row", "a_sequence_of_calls_leaves_no_state"),
    Promise(
        "R151",
        "every change comes with a test",
        ("test_requirements.py::test_every_promise_names_tests_that_exist",),
        "branch coverage is printed by scripts/test",
    ),
    gateway("R152", "concurrent calls", "concurrent_calls_do_not_swap_answers"),
    gateway(
        "R153",
        "the suite passes without a network",
        "a_local_tool_works_without_a_node",
        reason="CI runs it offline",
    ),
    Promise(
        "R154", "the curl checks are shipped and run", (f"{README}the_curl_script_of_the_audits_passes",)
    ),
)

HTTP_DETAILS = (
    gateway("R161", "JSON replies say application/json", "a_bare_curl_gets_json_with_every_field"),
    gateway(
        "R162",
        "legacy errors travel with 200",
        "a_legacy_error_travels_with_200",
        "malformed_json_is_a_parse_error",
    ),
    gateway("R163", "a foreign Origin is refused", "a_foreign_origin_is_refused_on_every_route"),
    gateway("R164", "one endpoint takes every method by POST", "only_post_is_served_at_the_endpoint"),
    gateway("R165", "loopback needs no login", "it_listens_on_loopback_only_and_needs_no_login_there"),
    Promise("R166", "dependencies are locked", (f"{README}every_dependency_is_locked_by_hash",)),
)

EXTRA = (
    gateway("X1", "ping is answered with {}", "ping_is_answered_with_an_empty_object"),
    gateway(
        "X2",
        "unknown notifications get 202 and no body",
        "initialized_and_any_other_notification_gets_202_and_no_body",
    ),
    gateway("X3", "a call without an id is not answered", "a_call_without_an_id_is_never_answered"),
    gateway("X4", "an id is a string or an integer", "an_id_that_is_no_string_or_integer_is_malformed"),
    gateway("X5", "posted responses are accepted", "posted_responses_are_accepted"),
    gateway("X6", "batches work for 2025-03-26", "a_batch_works_for_the_revision_that_has_it"),
    gateway("X7", "an unsupported version header is 400", "an_unsupported_version_header_is_refused"),
    gateway("X8", "a bogus cursor is -32602", "a_bogus_cursor_is_refused"),
    Promise("X9", "amounts are exact", (f"{QORTAL}balances_are_exact",)),
    Promise("X10", "prices and quantities carry a unit", (f"{QORTAL}an_offer_has_price_and_unit",)),
    Promise(
        "X11",
        "paging reaches every row",
        (
            f"{QORTAL}following_pages_reaches_every_offer_once",
            f"{QORTAL}following_pages_reaches_every_publication_once",
        ),
    ),
    Promise(
        "X12", "counts are true", ("qortal/test_chat_tools.py::test_counts_are_true_whatever_the_limit",)
    ),
    Promise(
        "X13",
        "answers say which node and height they come from",
        (f"{QORTAL}an_answer_keeps_to_its_contract",),
    ),
    gateway(
        "X14",
        "memory stays flat",
        "an_oversized_body_is_refused_before_it_is_read",
        reason="scripts/bench memory measures 100,000 calls and session ids",
    ),
    Promise(
        "X15",
        "hidden characters are made visible",
        ("qortal/test_hostile_data.py::test_hidden_characters_of_strangers_are_shown",),
    ),
    Promise("X16", "stdio", ("qortal/test_conversation.py::test_stdio_answers_and_ends_with_its_input",)),
    gateway(
        "X17",
        "readiness tells whether the node answers",
        "health_tells_of_the_process_and_readiness_of_the_node",
    ),
)

CASES = "audit/test_broken_servers.py::test_"
STORIES = "audit/test_seed_stories.py::test_"
COMMAND = "cli/test_audit.py::test_"

# Rows A are what `audit` promises beyond the acceptance list.
AUDIT = (
    Promise(
        "R173",
        "text and structured content that differ are found",
        (f"{CASES}each_broken_server_is_found_by_exactly_its_code",),
    ),
    Promise(
        "R175",
        "every tool of ours follows one pattern",
        (f"{COMMAND}our_own_server_conforms_on_every_wire_in_every_revision_with_every_tool",),
    ),
    Promise(
        "A1",
        "every code finds its broken server, and no other",
        (
            f"{CASES}each_broken_server_is_found_by_exactly_its_code",
            f"{CASES}every_code_has_a_broken_server",
            f"{CASES}what_only_looks_odd_is_not_found",
        ),
    ),
    Promise(
        "A2",
        "the servers that came before are judged as their own documents judged them",
        (
            f"{STORIES}exactly_these_defects_are_found",
            f"{STORIES}the_difference_of_two_captures_says_what_was_mended",
            f"{STORIES}a_defect_of_the_ten_is_found_where_the_wire_shows_it",
        ),
    ),
    Promise(
        "A3",
        "the clients that break are named with what they said",
        (
            f"{STORIES}codex_failed_on_the_content_type_object_with_its_own_words",
            f"{STORIES}claude_code_and_gemini_took_the_bare_payload_for_an_empty_success",
        ),
    ),
    Promise(
        "A4",
        "nothing that may change something is called unless a person named it",
        (
            "audit/test_calls.py::test_a_tool_that_may_change_something_is_never_called_unnamed",
            "audit/test_calls.py::test_whatever_a_tool_says_only_the_boolean_opens_it",
            f"{COMMAND}call_all_makes_up_arguments_for_read_only_tools_alone",
        ),
    ),
    Promise(
        "A5",
        "secrets never appear in a report or capture",
        (
            f"{COMMAND}headers_from_a_file_are_sent_and_never_shown_even_where_the_server_repeats_them",
            f"{COMMAND}secrets_in_an_address_are_never_shown",
            f"{COMMAND}secrets_on_the_command_line_of_a_program_are_never_shown",
        ),
    ),
    Promise(
        "A6",
        "a hostile server cannot steer the terminal",
        (f"{COMMAND}nothing_that_steers_a_terminal_reaches_it_or_a_report",),
    ),
    Promise(
        "A7",
        "a capture gives the same report as the server",
        (
            f"{COMMAND}a_capture_is_judged_again_with_the_same_findings",
            f"{STORIES}an_audit_of_the_living_server_finds_what_its_capture_shows",
        ),
    ),
    Promise(
        "A8",
        "the line beside a finding shows it again",
        (
            "audit/test_reproduce.py::test_the_line_for_a_program_gives_the_same_reply_again",
            "audit/test_reproduce.py::test_the_line_for_an_address_gives_the_same_reply_again",
        ),
    ),
    Promise(
        "A9",
        "JUnit, SARIF and Markdown are what their readers take",
        (
            f"{COMMAND}junit_fails_for_must_and_should_and_skips_what_was_not_judged",
            f"{COMMAND}sarif_has_what_the_standard_demands",
            f"{COMMAND}markdown_is_a_plan_by_priority_with_before_after_how_and_test",
        ),
    ),
)

PROMISES: tuple[Promise, ...] = (
    *HANDSHAKE,
    *METHODS,
    *JSON_RPC_ERRORS,
    *TOOL_RESULTS,
    *TOOL_ERRORS,
    *INPUT,
    *OUTPUT,
    *ASSET_BALANCES,
    *SECURITY,
    *LOGGING,
    *DOCUMENTS,
    *TESTS,
    *HTTP_DETAILS,
    *EXTRA,
    *AUDIT,
)
