import "@/styles/owner.css";
import { PageShell } from "@/components/layout/page-shell";
import { LoginPage } from "@/features/session/components/login-page";

export function LoginRoute() {
  return (
    <PageShell base="band">
      <LoginPage />
    </PageShell>
  );
}
