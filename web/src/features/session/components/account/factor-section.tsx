import { useState } from "react";
import { useQueryClient } from "@tanstack/react-query";
import { AdminGroup } from "@/components/layout/admin-group";
import { AdminListState } from "@/components/layout/admin-list-state";
import { Button } from "@/components/ui/button";
import { ConfirmDialog } from "@/components/ui/confirm-dialog";
import { FACTOR_LIST_KEY, useFactorList } from "@/features/session/api/factor-list";
import {
  makeRecoveryCodes,
  RECOVERY_COUNT_KEY,
  useRecoveryCount,
} from "@/features/session/api/recovery-codes";
import { removeFactor } from "@/features/session/api/remove-factor";
import { SESSIONS_KEY } from "@/features/session/api/sessions";
import { CodesDialog } from "@/features/session/components/account/codes-dialog";
import { EnrolDialog } from "@/features/session/components/account/enrol-dialog";
import { factorName } from "@/features/session/factor-name";
import { failureText } from "@/features/session/failure-text";
import { useReauthentication } from "@/features/session/reauthentication";
import { useAuth, type AuthFailure, type SecondFactor } from "@/lib/auth";
import { useBoot } from "@/lib/boot";
import { useT } from "@/lib/i18n";
import { refetch } from "@/lib/refetch";
import { stackedToast } from "@/lib/toast";

/**
 * The section of the account page with the second factors (authenticator apps and phones) and the recovery codes
 * (docs/product.md, rule 5).
 */
export function FactorSection() {
  const t = useT();
  const boot = useBoot();
  const queryClient = useQueryClient();
  const { user } = useAuth();
  const factorsQuery = useFactorList();
  const hasFactors = (factorsQuery.data?.length ?? 0) > 0;
  const countQuery = useRecoveryCount(hasFactors);
  const [isEnrolling, setEnrolling] = useState(false);
  // The new recovery codes in their dialog; null while the dialog is closed.
  const [codes, setCodes] = useState<string[] | null>(null);
  // The factor in the dialog that asks before a removal; null while the dialog is closed.
  const [factorToRemove, setFactorToRemove] = useState<SecondFactor | null>(null);
  // The state of the dialog that asks before the codes are renewed; null while the dialog is closed.
  const [renewing, setRenewing] = useState<"confirming" | "busy" | null>(null);
  const [isRemoving, setRemoving] = useState(false);
  const { withReauthentication, isDialogOpen } = useReauthentication();
  // After the owner has confirmed one of these dialogs, the dialog that asks for the password again can open. The confirmed dialog
  // must not open again after that.
  if (isDialogOpen && renewing) setRenewing(null);
  if (isDialogOpen && factorToRemove) setFactorToRemove(null);

  const refetchAll = () =>
    Promise.all(
      [FACTOR_LIST_KEY, RECOVERY_COUNT_KEY, SESSIONS_KEY].map((queryKey) =>
        refetch(queryClient, queryKey),
      ),
    );
  const showFailure = (title: string, failure: AuthFailure) =>
    stackedToast({ title, description: failureText(t, failure), destructive: true });

  async function renew() {
    const result = await withReauthentication(() => makeRecoveryCodes(boot));
    if (!result) return;
    if (result.error) showFailure(t("account.codes.failed"), result.error);
    else setCodes(result.data.codes);
    await refetch(queryClient, RECOVERY_COUNT_KEY);
  }

  async function onEnrolled() {
    setEnrolling(false);
    stackedToast({ title: t("account.factor.added") });
    // The first factor needs recovery codes; a further one leaves the existing codes valid.
    if (!hasFactors) await renew();
    await refetchAll();
  }

  async function remove(factor: SecondFactor) {
    setRemoving(true);
    const last = factorsQuery.data?.length === 1;
    const target = { factorId: factor.id, userId: user?.id ?? "", last };
    const result = await withReauthentication(() => removeFactor(boot, queryClient, target));
    setRemoving(false);
    setFactorToRemove(null);
    if (!result) return;
    if (result.error) showFailure(t("account.factor.removeFailed"), result.error);
    else stackedToast({ title: t("account.factor.removed") });
    await refetchAll();
  }

  return (
    <AdminGroup title={t("account.factor.title")} intro={t("account.factor.intro")}>
      <AdminListState query={factorsQuery} empty="" notEmpty>
        {(rows) =>
          rows.length === 0 ? (
            <div>
              <p>{t("account.factor.none")}</p>
              <Button size="sm" className="mt-4" onClick={() => setEnrolling(true)}>
                {t("account.factor.add")}
              </Button>
            </div>
          ) : (
            <div>
              <ul className="border-line border-t">
                {rows.map((factor) => (
                  <li
                    key={factor.id}
                    className="border-line flex flex-wrap items-center justify-between gap-x-6 gap-y-2 border-b py-3"
                  >
                    <span>{factorName(t, factor)}</span>
                    <Button
                      variant="outline"
                      size="sm"
                      aria-label={t("account.factor.removeNamed", { name: factorName(t, factor) })}
                      onClick={() => setFactorToRemove(factor)}
                    >
                      {t("upload.remove")}
                    </Button>
                  </li>
                ))}
              </ul>
              <p className="mt-5" role="status">
                {countQuery.data && t("account.codes.left", { n: countQuery.data.remaining })}
              </p>
              <div className="mt-3 flex flex-wrap gap-3">
                <Button variant="outline" size="sm" onClick={() => setRenewing("confirming")}>
                  {t("account.codes.renew")}
                </Button>
                <Button variant="outline" size="sm" onClick={() => setEnrolling(true)}>
                  {t("account.factor.another")}
                </Button>
              </div>
            </div>
          )
        }
      </AdminListState>

      {isEnrolling && (
        <EnrolDialog onClose={() => setEnrolling(false)} onEnrolled={() => void onEnrolled()} />
      )}
      <CodesDialog codes={codes} onKept={() => setCodes(null)} />
      {/* Unmounted immediately, without fading out, so that the reauthentication dialog returns the focus to their opener. */}
      {!isDialogOpen && (
        <>
          <ConfirmDialog
            open={renewing !== null}
            busy={renewing === "busy"}
            onOpenChange={(open) => {
              if (!open) setRenewing(null);
            }}
            title={t("account.codes.renew")}
            question={t("account.codes.renewQuestion")}
            confirmLabel={t("account.codes.renew")}
            onConfirm={() => {
              setRenewing("busy");
              void renew().finally(() => setRenewing(null));
            }}
          />
          <ConfirmDialog
            open={factorToRemove !== null}
            busy={isRemoving}
            onOpenChange={(open) => {
              if (!open) setFactorToRemove(null);
            }}
            title={t("account.factor.removeTitle")}
            question={t("account.factor.removeQuestion")}
            confirmLabel={t("upload.remove")}
            onConfirm={() => factorToRemove && void remove(factorToRemove)}
          />
        </>
      )}
    </AdminGroup>
  );
}
