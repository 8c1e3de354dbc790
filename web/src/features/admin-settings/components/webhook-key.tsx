import { useId, useState } from "react";
import { Copy, Eye, EyeOff } from "lucide-react";
import { useWebhookKey } from "@/features/admin-settings/api/webhook-key";
import { Button } from "@/components/ui/button";
import { messageOf } from "@/lib/errors";
import { useT } from "@/lib/i18n";
import { stackedToast } from "@/lib/toast";

/**
 * Shows the secret key of the webhook (requests that report new messages to another program). With the key the receiver verifies that
 * a request comes from the site. The key is fetched when the owner clicks Show.
 */
export function WebhookKey() {
  const t = useT();
  const id = useId();
  const fetchKey = useWebhookKey();
  const [copyStatus, setCopyStatus] = useState("");
  const secret = fetchKey.data;

  async function copy(text: string) {
    try {
      await navigator.clipboard.writeText(text);
      setCopyStatus(t("settings.webhookKeyCopied"));
    } catch {
      setCopyStatus(t("settings.webhookKeyCopyFailed"));
    }
  }

  return (
    <div role="group" aria-labelledby={`${id}-label`} aria-describedby={`${id}-hint`}>
      <p id={`${id}-label`} className="label-text mb-2">
        {t("settings.webhookKey")}
      </p>
      {secret && (
        <p className="bg-shade mb-2 rounded-sm px-4 py-3 font-mono break-all select-all">
          {secret}
        </p>
      )}
      <div className="flex flex-wrap items-center gap-2">
        <Button
          variant="outline"
          size="sm"
          aria-expanded={secret !== undefined}
          loading={fetchKey.isPending}
          onClick={() => {
            setCopyStatus("");
            if (secret)
              fetchKey.reset(); // hides the key
            else
              fetchKey.mutate(undefined, {
                onError: (failure) =>
                  stackedToast({
                    title: t("settings.toast.keyError"),
                    description: messageOf(failure),
                    destructive: true,
                  }),
              });
          }}
        >
          {secret ? (
            <EyeOff aria-hidden="true" size={18} strokeWidth={1.75} />
          ) : (
            <Eye aria-hidden="true" size={18} strokeWidth={1.75} />
          )}
          {t(secret ? "settings.webhookKeyHide" : "settings.webhookKeyShow")}
        </Button>
        {secret && (
          <Button variant="outline" size="sm" onClick={() => void copy(secret)}>
            <Copy aria-hidden="true" size={18} strokeWidth={1.75} />
            {t("account.codes.copy")}
          </Button>
        )}
        <span role="status" className="text-ink2 text-sm">
          {copyStatus}
        </span>
      </div>
      <p id={`${id}-hint`} className="text-ink2 mt-2 text-sm">
        {t("settings.webhookKeyHint")}
      </p>
    </div>
  );
}
