import { useState, type FormEvent } from "react";
import {
  AddressHasRoleError,
  useEraseAddress,
  useExportAddress,
  useFindAddress,
} from "@/features/admin-messages/api/address-data";
import { AddressFindings } from "@/features/admin-messages/components/address-findings";
import { TextField } from "@/components/form/text-field";
import { Button } from "@/components/ui/button";
import { ConfirmDialog } from "@/components/ui/confirm-dialog";
import { useBoot } from "@/lib/boot";
import { messageOf } from "@/lib/errors";
import { useT } from "@/lib/i18n";
import { stackedToast } from "@/lib/toast";
import type { TextKey } from "@/lib/texts";

// Whether a text can be an email address. The server's check is the same. The contact form's check is stricter, but an old account
// may have an address that the contact form would reject.
const isAddress = (text: string) => /^[^\s@]+@\S+$/.test(text);

/** The form with which the owner looks up what the site stores about an email address, and then exports or erases it. */
export function AddressSearch() {
  const t = useT();
  const { backupDays } = useBoot();
  const [input, setInput] = useState("");
  const [invalid, setInvalid] = useState(false);
  const [confirming, setConfirming] = useState(false);
  const find = useFindAddress();
  const exportData = useExportAddress();
  const erase = useEraseAddress();
  const found = find.data;

  /** Makes an error handler that shows a toast with this title. */
  const showError = (title: TextKey) => (error: Error) => {
    // AddressHasRoleError has no toast, because its text is shown below the field.
    if (!(error instanceof AddressHasRoleError))
      stackedToast({ title: t(title), description: messageOf(error), destructive: true });
  };
  // Whether the server has refused a request because the address belongs to an account with a role, such as an owner's. The account
  // may have got its role after the first request, so all requests are checked.
  const refusedForRole = [find, exportData, erase].some(
    ({ error }) => error instanceof AddressHasRoleError,
  );

  function submit(event: FormEvent) {
    event.preventDefault();
    const address = input.trim();
    setInvalid(!isAddress(address));
    if (!isAddress(address)) return;
    exportData.reset();
    erase.reset();
    find.mutate(address, { onError: showError("messages.data.toast.findError") });
  }

  function confirmErase() {
    erase
      .mutateAsync(found!.address)
      .catch(showError("messages.data.toast.eraseError"))
      .finally(() => setConfirming(false));
  }

  return (
    <>
      <form noValidate onSubmit={submit} className="flex flex-col gap-3 sm:flex-row sm:items-start">
        <TextField
          type="email"
          label={t("messages.data.email")}
          autoComplete="off"
          autoCapitalize="off"
          spellCheck={false}
          className="w-full sm:max-w-[28em]"
          value={input}
          error={invalid ? t("contact.error.email") : undefined}
          onChange={(event) => setInput(event.target.value)}
        />
        <Button type="submit" className="flex-none sm:mt-[33px]" loading={find.isPending}>
          {t("messages.data.find")}
        </Button>
      </form>
      <div role="status">
        {refusedForRole && (
          <div className="max-w-[42em]">
            <p className="text-danger font-[620]">{t("messages.data.role")}</p>
            <p>{t("messages.data.roleHelp")}</p>
          </div>
        )}
        {!refusedForRole && erase.data && <AddressFindings data={erase.data} erased />}
        {!refusedForRole && !erase.data && found && <AddressFindings data={found} />}
      </div>
      {found && !refusedForRole && !erase.data && found.places.some(({ count }) => count > 0) && (
        <div className="flex flex-wrap gap-3">
          <Button
            variant="outline"
            size="sm"
            loading={exportData.isPending}
            onClick={() =>
              void exportData
                .mutateAsync(found.address)
                .catch(showError("messages.data.toast.exportError"))
            }
          >
            {t("messages.data.export")}
          </Button>
          <Button variant="danger" size="sm" onClick={() => setConfirming(true)}>
            {t("messages.data.erase")}
          </Button>
        </div>
      )}
      <ConfirmDialog
        open={confirming}
        onOpenChange={setConfirming}
        title={t("messages.data.eraseTitle")}
        question={[
          t("messages.data.eraseQuestion", { address: found?.address ?? "" }),
          backupDays ? t("messages.data.eraseBackups", { n: backupDays }) : "",
        ]
          .join(" ")
          .trim()}
        confirmLabel={t("messages.data.eraseNow")}
        busy={erase.isPending}
        onConfirm={confirmErase}
      />
    </>
  );
}
