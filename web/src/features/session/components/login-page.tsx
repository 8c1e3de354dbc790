import { Suspense, useState } from "react";
import { Navigate, useLocation, useSearchParams } from "react-router";
import { BackToSignIn } from "@/features/session/components/back-to-sign-in";
import { ForgottenPassword } from "@/features/session/components/forgotten-password";
import { SecondFactorStep } from "@/features/session/components/second-factor-step";
import { SetUpForm } from "@/features/session/components/set-up-form";
import { SignInForm } from "@/features/session/components/sign-in-form";
import {
  FORGOTTEN,
  hasSessionInHash,
  linkFailure,
  NEW_PASSWORD,
} from "@/features/session/mailed-link";
import { useAuth, type Auth } from "@/lib/auth";
import { hasStoredSession } from "@/lib/backend";
import { useBoot } from "@/lib/boot";
import { useT } from "@/lib/i18n";
import { lazyWithPreload } from "@/lib/lazy-with-preload";
import { returnPath } from "@/lib/return-path";
import type { TextKey } from "@/lib/texts";
import { usePageTitle } from "@/lib/use-page-title";

// Loaded on demand, because few sign-ins need it, and it needs the code of dialogs, which the other steps do not.
const NewPasswordStep = lazyWithPreload(() =>
  import("@/features/session/components/new-password-step").then((m) => m.NewPasswordStep),
);

/**
 * What the page shows:
 * - a step of signing in: "setUp", "signIn", "factor", "newPassword" or "forgotten"
 * - "opening": a stored session or a mailed link is being read
 * - "done": the user is signed in, and the browser goes to the next page
 */
type Step = "setUp" | "opening" | "factor" | "newPassword" | "forgotten" | "signIn" | "done";

/** The text keys of the document's title. */
const titles: Record<Step, TextKey> = {
  setUp: "auth.setup.title",
  opening: "auth.title",
  factor: "auth.factor.title",
  newPassword: "auth.newPassword.title",
  forgotten: "auth.forgot.title",
  signIn: "auth.title",
  done: "auth.title",
};

/** The sign-in page. All steps of signing in have the path /admin/auth. The session and the query string select the step. */
export function LoginPage() {
  const t = useT();
  const boot = useBoot();
  const auth = useAuth();
  const { state, hash } = useLocation();
  const [search] = useSearchParams();
  // Whether a session is being read. Never true again later, so that a change of the session does not hide the form.
  const [opening, setOpening] = useState(() => hasSessionInHash(hash) || hasStoredSession(boot));
  if (opening && !auth.loading) setOpening(false);

  const setUpToken = search.get("setup");
  const returnTo = returnPath(state, search);
  const linkError =
    linkFailure(hash, search) ??
    // supabase-js reports no error if it cannot read the session in the hash.
    (hasSessionInHash(hash) && !auth.session && !auth.loading
      ? { code: "unopened", message: t("auth.link.opening") }
      : null);
  const step = stepOf(auth, {
    opening,
    setUpToken,
    forgotten: search.has(FORGOTTEN) || linkError !== null,
    newPassword: search.has(NEW_PASSWORD),
    brokenLink: linkError !== null,
  });
  const [firstStep] = useState(step);
  // Whether another step was shown since the page opened.
  const [hasChangedStep, setHasChangedStep] = useState(false);
  if (!hasChangedStep && step !== firstStep) setHasChangedStep(true);
  usePageTitle(t(titles[step]));
  const loadingNote = (
    <p role="status" className="text-ink2">
      {t("common.loading")}
    </p>
  );

  if (step === "done") {
    // After the set-up of a new site the first-run guide follows.
    const adminPath = setUpToken && firstStep === "setUp" ? "/admin/guide" : returnTo;
    return <Navigate to={auth.role === "admin" ? adminPath : "/"} replace />;
  }
  return (
    <div className="page-container flex justify-center pt-[clamp(2.5rem,1rem+4.6vw,5rem)] pb-16">
      <div className="w-full max-w-[440px]">
        {setUpToken && step === "setUp" && <SetUpForm token={setUpToken} />}
        {step === "opening" && loadingNote}
        {step === "factor" && (
          <SecondFactorStep
            factors={auth.pendingFactors}
            from={returnTo}
            last={!search.has(NEW_PASSWORD)}
          />
        )}
        {step === "newPassword" && (
          <>
            <Suspense fallback={loadingNote}>
              <NewPasswordStep email={auth.user?.email ?? ""} from={returnTo} />
            </Suspense>
            <p className="mt-4">
              <BackToSignIn from={returnTo} />
            </p>
          </>
        )}
        {step === "forgotten" && <ForgottenPassword from={returnTo} linkError={linkError} />}
        {step === "signIn" && <SignInForm from={returnTo} focus={hasChangedStep} />}
      </div>
    </div>
  );
}

/** The step for a session and the query string. */
function stepOf(
  { loading, session, pendingFactors }: Auth,
  query: {
    opening: boolean;
    setUpToken: string | null;
    forgotten: boolean;
    newPassword: boolean;
    brokenLink: boolean;
  },
): Step {
  if (query.opening) return "opening";
  // While the role of a new session loads, the current form stays.
  if (session && !loading && !query.brokenLink) {
    if (pendingFactors.length > 0) return "factor";
    return query.newPassword ? "newPassword" : "done";
  }
  if (query.setUpToken) return "setUp";
  return query.forgotten ? "forgotten" : "signIn";
}
