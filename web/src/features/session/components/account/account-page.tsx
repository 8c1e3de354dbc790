import { AdminPage } from "@/components/layout/admin-page";
import { ActivitySection } from "@/features/session/components/account/activity-section";
import { ReauthenticationProvider } from "@/features/session/components/account/reauthentication-provider";
import { EmailSection } from "@/features/session/components/account/email-section";
import { FactorSection } from "@/features/session/components/account/factor-section";
import { PasswordSection } from "@/features/session/components/account/password-section";
import { SessionsSection } from "@/features/session/components/account/sessions-section";
import { useAuth } from "@/lib/auth";
import { useT } from "@/lib/i18n";

/** The admin page of the owner's account: email, password, second factors, sessions and activity (docs/product.md, rule 5). */
export function AccountPage() {
  const t = useT();
  const { mustEnrol } = useAuth();
  return (
    <AdminPage title={t("account.title")}>
      {mustEnrol && (
        <p role="status" className="bg-indigo-tint max-w-[42em] rounded-sm px-4 py-3">
          {t("account.factor.required")}
        </p>
      )}
      {/* If a second factor is required but missing, its section is the first. */}
      <ReauthenticationProvider>
        {mustEnrol && <FactorSection />}
        <EmailSection />
        <PasswordSection />
        {!mustEnrol && <FactorSection />}
      </ReauthenticationProvider>
      <SessionsSection />
      {!mustEnrol && <ActivitySection />}
    </AdminPage>
  );
}
