import { Navigate, useLocation, useSearchParams } from "react-router";
import { SetUpForm } from "@/features/session/components/set-up-form";
import { SignInForm } from "@/features/session/components/sign-in-form";
import { useAuth } from "@/lib/auth";
import { useT } from "@/lib/i18n";
import { returnPath } from "@/lib/return-path";
import { usePageTitle } from "@/lib/use-page-title";

export function LoginPage() {
  const t = useT();
  const { loading, session, role } = useAuth();
  const { state } = useLocation();
  const [search] = useSearchParams();
  const token = search.get("setup");
  usePageTitle(token ? t("auth.setup.title") : t("auth.title"));

  // While the role of a fresh session is looked up the form stays: nothing flashes in between.
  if (session && !loading) {
    return <Navigate to={role === "admin" ? returnPath(state) : "/"} replace />;
  }
  return (
    <div className="wrap flex justify-center pt-[clamp(2.5rem,1rem+4.6vw,5rem)] pb-16">
      <div className="w-full max-w-[440px]">
        {token ? <SetUpForm token={token} /> : <SignInForm />}
      </div>
    </div>
  );
}
