import { useState } from "react";
import { Navigate, useLocation, useSearchParams } from "react-router";
import { ForgottenPassword } from "@/features/session/components/forgotten-password";
import { NewPasswordForm } from "@/features/session/components/new-password-form";
import { SecondFactorStep } from "@/features/session/components/second-factor-step";
import { SetUpForm } from "@/features/session/components/set-up-form";
import { SignInForm } from "@/features/session/components/sign-in-form";
import { FORGOTTEN, holdsSession, linkFailure, NEW_PASSWORD } from "@/features/session/mailed-link";
import { useAuth, type Auth } from "@/lib/auth";
import { hasStoredSession } from "@/lib/backend";
import { useBoot } from "@/lib/boot";
import { useT } from "@/lib/i18n";
import { returnPath } from "@/lib/return-path";
import type { Key } from "@/lib/texts";
import { usePageTitle } from "@/lib/use-page-title";

type Step = "setUp" | "opening" | "factor" | "newPassword" | "forgotten" | "signIn" | "done";

const titles: Record<Step, Key> = {
  setUp: "auth.setup.title",
  opening: "auth.title",
  factor: "auth.factor.title",
  newPassword: "auth.newPassword.title",
  forgotten: "auth.forgot.title",
  signIn: "auth.title",
  done: "auth.title",
};

/** Every step of signing in, on one address; what is in the query decides where the session does not. */
export function LoginPage() {
  const t = useT();
  const boot = useBoot();
  const auth = useAuth();
  const { state, hash } = useLocation();
  const [search] = useSearchParams();
  const [opening, setOpening] = useState(() => holdsSession(hash) || hasStoredSession(boot));
  if (opening && !auth.loading) setOpening(false);

  const token = search.get("setup");
  const from = returnPath(state, search);
  const link =
    linkFailure(hash, search) ??
    // The client could not open it, and says why nowhere.
    (holdsSession(hash) && !auth.session && !auth.loading
      ? { code: "unopened", message: t("auth.link.opening") }
      : null);
  const step = stepOf(auth, {
    opening,
    token,
    forgotten: search.has(FORGOTTEN) || link !== null,
    newPassword: search.has(NEW_PASSWORD),
    brokenLink: link !== null,
  });
  const [first] = useState(step);
  const [moved, setMoved] = useState(false);
  if (!moved && step !== first) setMoved(true);
  usePageTitle(t(titles[step]));

  if (step === "done") return <Navigate to={auth.role === "admin" ? from : "/"} replace />;
  return (
    <div className="wrap flex justify-center pt-[clamp(2.5rem,1rem+4.6vw,5rem)] pb-16">
      <div className="w-full max-w-[440px]">
        {token && step === "setUp" && <SetUpForm token={token} />}
        {step === "opening" && (
          <p role="status" className="text-ink2">
            {t("common.loading")}
          </p>
        )}
        {step === "factor" && (
          <SecondFactorStep
            factors={auth.awaitedFactors}
            from={from}
            last={!search.has(NEW_PASSWORD)}
          />
        )}
        {step === "newPassword" && <NewPasswordForm email={auth.user?.email ?? ""} from={from} />}
        {step === "forgotten" && <ForgottenPassword from={from} link={link} />}
        {step === "signIn" && <SignInForm from={from} focus={moved} />}
      </div>
    </div>
  );
}

function stepOf(
  { loading, session, awaitedFactors }: Auth,
  asked: {
    opening: boolean;
    token: string | null;
    forgotten: boolean;
    newPassword: boolean;
    brokenLink: boolean;
  },
): Step {
  if (asked.opening) return "opening";
  // While the role of a fresh session is looked up the form stays: nothing flashes in between.
  if (session && !loading && !asked.brokenLink) {
    if (awaitedFactors.length > 0) return "factor";
    return asked.newPassword ? "newPassword" : "done";
  }
  if (asked.token) return "setUp";
  return asked.forgotten ? "forgotten" : "signIn";
}
