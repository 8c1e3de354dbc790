-- The audit log names its events as Supabase Auth does; entries of before get the same names, so that one filter finds all.
-- What it has no event for keeps its name.
update auth_audit_log set action = case
    when action = 'signed_in' then 'login'
    when action = 'signed_out' then 'logout'
    when action = 'refresh_token_reused' then 'token_revoked'
    when action = 'password_changed' then 'user_updated_password'
    when action in ('user_created', 'email_confirmed', 'phone_confirmed') then 'user_signedup'
    when action in ('user_updated', 'email_changed', 'phone_changed') then 'user_modified'
    when action = 'sign_up_repeated' then 'user_repeated_signup'
    when action = 'factor_verified' then 'verification_attempted'
    when action = 'mail_requested' and detail ->> 'kind' = 'confirmation' then 'user_confirmation_requested'
    when action = 'mail_requested' and detail ->> 'kind' in ('magic_link', 'recovery') then 'user_recovery_requested'
    when action in ('mail_requested', 'sms_requested') and detail ->> 'kind' = 'reauthentication' then 'user_reauthenticate_requested'
    when action = 'sms_requested' and detail ->> 'kind' = 'sms' then 'user_recovery_requested'
    else action
  end
where action in ('signed_in', 'signed_out', 'refresh_token_reused', 'password_changed', 'user_created', 'email_confirmed', 'phone_confirmed',
  'user_updated', 'email_changed', 'phone_changed', 'sign_up_repeated', 'factor_verified', 'mail_requested', 'sms_requested');

-- Upload-Metadata as the client sent it, for it to read again (TUS 1.0.0, HEAD); empty for uploads of before.
alter table storage_uploads add column upload_metadata {{.text}} not null default '';
