import "@/styles/full.css";
import { PageShell } from "@/components/layout/page-shell";
import { LoginPage } from "@/features/session/components/login-page";

/** The route /admin/auth, the sign-in page. */
export function LoginRoute() {
  return (
    <PageShell foot="band">
      <LoginPage />
    </PageShell>
  );
}
