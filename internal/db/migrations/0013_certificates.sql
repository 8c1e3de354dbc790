-- What HTTPS needs, for all nodes together: certificates, their private keys, the account at the certificate authority and
-- challenges on their way. A value is sealed; key_id names the key that opens it, so that a new secret begins anew
-- beside what the old one closed.
create table certificates (
  key_id {{.text}} not null,
  name {{.text}} not null,
  value {{.bytes}} not null,
  updated_at {{.timestamp}} not null,
  primary key (key_id, name)
) {{.strict}};

-- Who works on what. A node that dies gives its locks back at locked_until.
create table certificate_locks (
  name {{.text}} primary key not null,
  token {{.uuid}} not null,
  locked_until {{.timestamp}} not null
) {{.strict}};
