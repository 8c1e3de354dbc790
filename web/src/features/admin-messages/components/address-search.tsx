import { useState, type FormEvent } from "react";
import {
  AddressRoleError,
  useEraseAddress,
  useExportAddress,
  useFindAddress,
} from "@/features/admin-messages/api/address-data";
import { AddressFindings } from "@/features/admin-messages/components/address-findings";
import { TextField } from "@/components/form/text-field";
import { Button } from "@/components/ui/button";
import { ConfirmDialog } from "@/components/ui/confirm-dialog";
import { messageOf } from "@/lib/errors";
import { useT } from "@/lib/i18n";
import { areaToast } from "@/lib/toast";
import type { Key } from "@/lib/texts";

// As the server checks it: accounts may have addresses that the contact form does not accept.
const isAddress = (text: string) => /^[^\s@]+@\S+$/.test(text);

/** Looks up an email address, and exports or erases what is stored about it. */
export function AddressSearch() {
  const t = useT();
  const [written, setWritten] = useState("");
  const [invalid, setInvalid] = useState(false);
  const [asking, setAsking] = useState(false);
  const find = useFindAddress();
  const save = useExportAddress();
  const erase = useEraseAddress();
  const found = find.data;

  const onError = (title: Key) => (error: Error) => {
    // The role is said below the field, also if the account got it after the address was looked up.
    if (!(error instanceof AddressRoleError))
      areaToast({ title: t(title), description: messageOf(error), destructive: true });
  };
  const refused = [find, save, erase].some(({ error }) => error instanceof AddressRoleError);

  function submit(event: FormEvent) {
    event.preventDefault();
    const address = written.trim();
    setInvalid(!isAddress(address));
    if (!isAddress(address)) return;
    save.reset();
    erase.reset();
    find.mutate(address, { onError: onError("messages.data.toast.findError") });
  }

  function confirmErase() {
    erase.mutate(found!.address, {
      onError: onError("messages.data.toast.eraseError"),
      onSettled: () => setAsking(false),
    });
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
          value={written}
          error={invalid ? t("contact.error.email") : undefined}
          onChange={(event) => setWritten(event.target.value)}
        />
        <Button type="submit" className="flex-none sm:mt-[33px]" loading={find.isPending}>
          {t("messages.data.find")}
        </Button>
      </form>
      <div role="status">
        {refused && (
          <div className="max-w-[42em]">
            <p className="text-danger font-[620]">{t("messages.data.role")}</p>
            <p>{t("messages.data.roleHelp")}</p>
          </div>
        )}
        {!refused && erase.data && <AddressFindings data={erase.data} erased />}
        {!refused && !erase.data && found && <AddressFindings data={found} />}
      </div>
      {found && !refused && !erase.data && found.places.some(({ count }) => count > 0) && (
        <div className="flex flex-wrap gap-3">
          <Button
            variant="outline"
            size="sm"
            loading={save.isPending}
            onClick={() =>
              save.mutate(found.address, { onError: onError("messages.data.toast.exportError") })
            }
          >
            {t("messages.data.export")}
          </Button>
          <Button variant="danger" size="sm" onClick={() => setAsking(true)}>
            {t("messages.data.erase")}
          </Button>
        </div>
      )}
      <ConfirmDialog
        open={asking}
        onOpenChange={setAsking}
        title={t("messages.data.eraseTitle")}
        question={t("messages.data.eraseQuestion", { address: found?.address ?? "" })}
        confirmLabel={t("messages.data.eraseNow")}
        busy={erase.isPending}
        onConfirm={confirmErase}
      />
    </>
  );
}
