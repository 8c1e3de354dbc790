import { useId, useState } from "react";
import { Copy, Eye, EyeOff } from "lucide-react";
import { useWebhookKey } from "@/features/admin-settings/api/webhook-key";
import { Button } from "@/components/ui/button";
import { messageOf } from "@/lib/errors";
import { useT } from "@/lib/i18n";
import { areaToast } from "@/lib/toast";

/** Shows the secret key by which a receiver verifies webhook requests. It is fetched when the owner presses Show. */
export function WebhookKey() {
  const t = useT();
  const id = useId();
  const key = useWebhookKey();
  const [status, setStatus] = useState("");
  const shown = key.data;

  async function copy(secret: string) {
    try {
      await navigator.clipboard.writeText(secret);
      setStatus(t("settings.webhookKeyCopied"));
    } catch {
      setStatus(t("settings.webhookKeyCopyFailed"));
    }
  }

  return (
    <div role="group" aria-labelledby={`${id}-label`} aria-describedby={`${id}-hint`}>
      <p id={`${id}-label`} className="label-text mb-2">
        {t("settings.webhookKey")}
      </p>
      {shown && (
        <p className="bg-shade mb-2 rounded-sm px-4 py-3 font-mono break-all select-all">{shown}</p>
      )}
      <div className="flex flex-wrap items-center gap-2">
        <Button
          variant="outline"
          size="sm"
          aria-expanded={shown !== undefined}
          loading={key.isPending}
          onClick={() => {
            setStatus("");
            if (shown) key.reset();
            else
              key.mutate(undefined, {
                onError: (failure) =>
                  areaToast({
                    title: t("settings.toast.keyError"),
                    description: messageOf(failure),
                    destructive: true,
                  }),
              });
          }}
        >
          {shown ? (
            <EyeOff aria-hidden="true" size={18} strokeWidth={1.75} />
          ) : (
            <Eye aria-hidden="true" size={18} strokeWidth={1.75} />
          )}
          {t(shown ? "settings.webhookKeyHide" : "settings.webhookKeyShow")}
        </Button>
        {shown && (
          <Button variant="outline" size="sm" onClick={() => void copy(shown)}>
            <Copy aria-hidden="true" size={18} strokeWidth={1.75} />
            {t("account.codes.copy")}
          </Button>
        )}
        <span role="status" className="text-ink2 text-sm">
          {status}
        </span>
      </div>
      <p id={`${id}-hint`} className="text-ink2 mt-2 text-sm">
        {t("settings.webhookKeyHint")}
      </p>
    </div>
  );
}
