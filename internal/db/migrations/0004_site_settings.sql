-- What the owner says about the site: name, links, portrait. One row a setting, the value as JSON.
create table site_settings (
  key {{.text}} primary key not null,
  value {{.json}} not null,
  updated_at {{.timestamp}} not null
) {{.strict}};
