-- A Supabase project as far as an import reads it: the tables of GoTrue (auth) and of its storage server, and the site's own with
-- the types that such a project has.
create schema auth;
create schema storage;
create type auth.factor_type as enum ('totp', 'webauthn', 'phone');
create type auth.factor_status as enum ('unverified', 'verified');
create type public.app_role as enum ('admin', 'user');

create table auth.users (
  instance_id uuid,
  id uuid not null primary key,
  aud varchar(255),
  role varchar(255),
  email varchar(255),
  encrypted_password varchar(255),
  email_confirmed_at timestamptz,
  invited_at timestamptz,
  confirmation_token varchar(255),
  confirmation_sent_at timestamptz,
  recovery_token varchar(255),
  recovery_sent_at timestamptz,
  email_change_token_new varchar(255),
  email_change varchar(255),
  email_change_sent_at timestamptz,
  last_sign_in_at timestamptz,
  raw_app_meta_data jsonb,
  raw_user_meta_data jsonb,
  is_super_admin boolean,
  created_at timestamptz,
  updated_at timestamptz,
  phone text default null unique,
  phone_confirmed_at timestamptz,
  phone_change text default '',
  phone_change_token varchar(255) default '',
  phone_change_sent_at timestamptz,
  confirmed_at timestamptz generated always as (least(email_confirmed_at, phone_confirmed_at)) stored,
  email_change_token_current varchar(255) default '',
  email_change_confirm_status smallint default 0 check (email_change_confirm_status >= 0 and email_change_confirm_status <= 2),
  banned_until timestamptz,
  reauthentication_token varchar(255) default '',
  reauthentication_sent_at timestamptz,
  is_sso_user boolean not null default false,
  deleted_at timestamptz,
  is_anonymous boolean not null default false
);

create table auth.identities (
  provider_id text not null,
  user_id uuid not null references auth.users (id) on delete cascade,
  identity_data jsonb not null,
  provider text not null,
  last_sign_in_at timestamptz,
  created_at timestamptz,
  updated_at timestamptz,
  email text generated always as (lower(identity_data ->> 'email')) stored,
  id uuid not null default gen_random_uuid() primary key,
  unique (provider_id, provider)
);

create table auth.mfa_factors (
  id uuid not null primary key,
  user_id uuid not null references auth.users (id) on delete cascade,
  friendly_name text,
  factor_type auth.factor_type not null,
  status auth.factor_status not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  secret text,
  phone text,
  last_challenged_at timestamptz unique,
  web_authn_credential jsonb,
  web_authn_aaguid uuid
);

create table storage.buckets (
  id text not null primary key,
  name text not null,
  owner uuid,
  created_at timestamptz default now(),
  updated_at timestamptz default now(),
  public boolean default false,
  file_size_limit bigint,
  allowed_mime_types text[]
);

create table storage.objects (
  id uuid not null default gen_random_uuid() primary key,
  bucket_id text references storage.buckets (id),
  name text,
  owner uuid,
  created_at timestamptz default now(),
  updated_at timestamptz default now(),
  last_accessed_at timestamptz default now(),
  metadata jsonb,
  path_tokens text[] generated always as (string_to_array(name, '/')) stored,
  version text
);

create table public.products (
  id uuid not null default gen_random_uuid() primary key,
  title text not null,
  description text,
  artwork_type text,
  image_url text,
  image_gallery text[],
  video_gallery text[],
  is_featured boolean,
  in_stock boolean default true,
  dimensions text,
  medium text,
  creation_date date,
  tags text[],
  is_customizable boolean default false,
  seo_meta_title text,
  seo_meta_desc text,
  price numeric(10, 2) default 0,
  created_at timestamptz default now(),
  updated_at timestamptz default now(),
  internal_note text
);

create table public.reviews (
  id uuid not null primary key,
  client_name text not null,
  location text,
  message text not null,
  image_url text,
  is_active boolean default true,
  display_order integer,
  created_at timestamptz default now()
);

create table public.cover_images (
  id uuid not null primary key,
  image_url text not null,
  title text,
  description text,
  media_type text,
  video_thumbnail_url text,
  is_active boolean default true,
  display_order integer,
  created_at timestamptz default now()
);

create table public.contact_submissions (
  id uuid not null primary key,
  name text not null,
  email text not null,
  message text not null,
  reason text not null default 'general',
  status text not null default 'new',
  created_at timestamptz default now()
);

create table public.user_roles (
  id uuid not null default gen_random_uuid() primary key,
  user_id uuid not null references auth.users (id) on delete cascade,
  role public.app_role not null,
  created_at timestamptz default now(),
  unique (user_id, role)
);

create table public.newsletter (id serial primary key, email text);

create function public.statements() returns void language plpgsql as $body$
begin
  insert into public.user_roles (user_id, role) values ('00000000-0000-4000-8000-0000000000ff', 'admin');
end $body$;

create function public.atomic() returns bigint language sql begin atomic
  insert into public.newsletter (email) values ('case when end;');
  select case when true then 1 else 2 end;
end;
