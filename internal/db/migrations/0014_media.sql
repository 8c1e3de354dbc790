-- What is known of a picture or a film beside its object. blob_id is the object's when the row was written: another one
-- there means that the row tells of a file that has been replaced. original_* is the byte-exact upload, where the public
-- file is a cleaned one. maker has the right to make renditions until making_until, alone over all nodes.
create table media (
  object_id {{.uuid}} primary key not null references storage_objects (id),
  blob_id {{.uuid}} not null,
  kind {{.text}} not null check (kind in ('image', 'video')),
  state {{.text}} not null check (state in ('waiting', 'ready', 'failed')),
  reason {{.text}} not null default '',
  engine {{.text}} not null default '',
  width {{.int}} not null,
  height {{.int}} not null,
  alpha {{.bool}} not null default {{.false}},
  thumbhash {{.bytes}},
  color {{.text}} not null default '',
  profile {{.text}} not null default '',
  wide {{.bool}} not null default {{.false}},
  delta_e {{.real}} not null default 0,
  creator {{.text}} not null default '',
  rights {{.text}} not null default '',
  original_id {{.uuid}} unique,
  original_size {{.bigint}},
  original_etag {{.text}},
  focus_x {{.real}},
  focus_y {{.real}},
  duration {{.real}},
  codec {{.text}},
  poster {{.text}},
  maker {{.uuid}},
  making_until {{.timestamp}},
  created_at {{.timestamp}} not null,
  updated_at {{.timestamp}} not null
) {{.strict}};

-- The renditions that exist. name says what was asked for; eager ones were made after the upload and stay, others go
-- when all of them together are too large, the least recently used first.
create table media_renditions (
  object_id {{.uuid}} not null references media (object_id),
  name {{.text}} not null,
  blob_id {{.uuid}} not null unique,
  format {{.text}} not null,
  width {{.int}} not null,
  height {{.int}} not null,
  size {{.bigint}} not null,
  etag {{.text}} not null,
  p3 {{.bool}} not null,
  revision {{.int}} not null,
  eager {{.bool}} not null,
  used_at {{.timestamp}} not null,
  primary key (object_id, name)
) {{.strict}};
create index media_renditions_lazy on media_renditions (used_at) where not eager;
