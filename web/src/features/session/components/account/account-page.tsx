import { AdminPage } from "@/components/layout/admin-page";
import { EmailPart } from "@/features/session/components/account/email-part";
import { FactorPart } from "@/features/session/components/account/factor-part";
import { PasswordPart } from "@/features/session/components/account/password-part";
import { SessionsPart } from "@/features/session/components/account/sessions-part";
import { useT } from "@/lib/i18n";

/** An addition to the specification: the owner's own account. */
export function AccountPage() {
  const t = useT();
  return (
    <AdminPage title={t("account.title")}>
      <EmailPart />
      <PasswordPart />
      <FactorPart />
      <SessionsPart />
    </AdminPage>
  );
}
