-- Live changes: what a transaction has changed, written in that same transaction and read by every node after the commit
-- (internal/realtime/bus). Rows are swept after minutes. xact is the transaction that wrote a row: ids are handed out
-- before the commit, so that their order alone would lose what a slow transaction commits late.
create table realtime_outbox (
  id {{.serial}},
  {{.xact}}
  kind {{.text}} not null,
  payload {{.text}} not null,
  created_at {{.timestamp}} not null
) {{.strict}};
create index realtime_outbox_age on realtime_outbox (created_at);
{{.xact_index}}

-- Who is present on which channel, through which node. A node renews seen_at; what it stops renewing has left.
create table realtime_presence (
  ref {{.uuid}} primary key not null,
  node {{.uuid}} not null,
  topic {{.text}} not null,
  private {{.bool}} not null,
  key {{.text}} not null,
  meta {{.text}} not null,
  seen_at {{.timestamp}} not null
) {{.strict}};
create index realtime_presence_topic on realtime_presence (topic, private);
create index realtime_presence_node on realtime_presence (node, seen_at);
