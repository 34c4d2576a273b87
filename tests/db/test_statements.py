"""How PostgreSQL gets the statements that both databases share."""

from sealdesk.db.postgres.statements import for_each, numbered


def test_names_are_numbered_in_the_order_of_their_first_use() -> None:
    found = numbered("SELECT a::text FROM t WHERE a = :one AND b = :two AND c = :one")
    assert found.text == "SELECT a::text FROM t WHERE a = $1 AND b = $2 AND c = $1"
    assert found.names == ("one", "two")


def test_a_quoted_text_holds_no_parameter() -> None:
    quoted = """'%"in_time":false%' OR b = 'it''s :one'"""
    found = numbered(f"SELECT 1 FROM t WHERE a LIKE {quoted} OR c = :two")
    assert found.text == f"SELECT 1 FROM t WHERE a LIKE {quoted} OR c = $1"
    assert found.names == ("two",)
    sql = for_each(f"SELECT 1 FROM t WHERE a LIKE {quoted} OR c = :two", (("two", "text"),), None)
    assert f"a LIKE {quoted}" in sql and 'c = each_of."two"' in sql
