import { useState } from "react";
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
  // If a second factor is required but missing, its section is the first. It keeps that place when the factor is verified: a move
  // would mount it again, and it could not show the recovery codes.
  const [factorFirst] = useState(mustEnrol);
  return (
    <AdminPage title={t("account.title")}>
      {mustEnrol && (
        <p role="status" className="bg-indigo-tint max-w-[42em] rounded-sm px-4 py-3">
          {t("account.factor.required")}
        </p>
      )}
      <ReauthenticationProvider>
        {factorFirst && <FactorSection />}
        <EmailSection />
        <PasswordSection />
        {!factorFirst && <FactorSection />}
      </ReauthenticationProvider>
      <SessionsSection />
      {!mustEnrol && <ActivitySection />}
    </AdminPage>
  );
}
