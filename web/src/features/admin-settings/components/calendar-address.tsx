import { useId, useState } from "react";
import { CalendarDays, Copy, RefreshCw, Trash2 } from "lucide-react";
import { useCalendarAction, useCalendarFeed } from "@/features/admin-settings/api/calendar-feed";
import { SelectField } from "@/components/form/select-field";
import { Button } from "@/components/ui/button";
import { ConfirmDialog } from "@/components/ui/confirm-dialog";
import { Skeleton } from "@/components/ui/skeleton";
import { LANGUAGES } from "@/lib/constants";
import { errorToast } from "@/lib/error-toast";
import { messageOf } from "@/lib/errors";
import { useLanguage, useT } from "@/lib/i18n";
import { localDay, shortDate } from "@/lib/owner-dates";
import { stackedToast } from "@/lib/toast";
import type { CalendarFeed } from "@/lib/types";

const iconProps = { "aria-hidden": true, size: 18, strokeWidth: 1.75 } as const;

/**
 * The part of the settings page where the owner makes, replaces or removes the secret URL of the calendar. Calendar programs fetch
 * the promised dates of commissions (works that clients order) from this URL, which the texts call the calendar address. Each
 * change takes effect immediately, without a save of the settings.
 */
export function CalendarAddress() {
  const t = useT();
  const id = useId();
  const { data, isPending, isError, refetch, isFetching } = useCalendarFeed();
  return (
    <div role="group" aria-labelledby={`${id}-label`} aria-describedby={`${id}-hint`}>
      <p id={`${id}-label`} className="label-text">
        {t("calendar.title")}
      </p>
      <p id={`${id}-hint`} className="text-ink2 mt-1 mb-3 max-w-[42em] text-sm">
        {t("calendar.intro")}
      </p>
      {isPending && <Skeleton className="h-11 max-w-[28em]" />}
      {isError && (
        <div role="alert" className="flex flex-wrap items-center gap-3">
          <p>{t("common.loadError")}</p>
          <Button variant="outline" size="sm" loading={isFetching} onClick={() => void refetch()}>
            {t("common.retry")}
          </Button>
        </div>
      )}
      {data === null && <NewAddress />}
      {data && <Address calendar={data} />}
    </div>
  );
}

/** A field for the language of a new calendar, and the button that makes its secret URL. */
function NewAddress() {
  const t = useT();
  const { language } = useLanguage();
  const [chosenLanguage, setChosenLanguage] = useState(language);
  const action = useCalendarAction();
  return (
    <div className="flex flex-wrap items-end gap-3">
      <SelectField
        label={t("calendar.language")}
        className="w-full max-w-[16em]"
        value={chosenLanguage}
        onChange={(event) =>
          setChosenLanguage(LANGUAGES.find((choice) => choice === event.target.value) ?? language)
        }
      >
        {LANGUAGES.map((choice) => (
          <option key={choice} value={choice}>
            {t(`settings.language.${choice}`)}
          </option>
        ))}
      </SelectField>
      <Button
        variant="outline"
        loading={action.isPending}
        onClick={() =>
          void action
            .mutateAsync({ action: "create", language: chosenLanguage })
            .catch((error: unknown) => errorToast(t, messageOf(error)))
        }
      >
        <CalendarDays {...iconProps} />
        {t("calendar.create")}
      </Button>
    </div>
  );
}

/** The secret URL of the calendar, with buttons that copy, replace and remove the URL. */
function Address({ calendar }: { calendar: CalendarFeed }) {
  const t = useT();
  const { language } = useLanguage();
  const action = useCalendarAction();
  const [status, setStatus] = useState("");
  const [asking, setAsking] = useState<"replace" | "remove" | null>(null);

  async function copy() {
    try {
      await navigator.clipboard.writeText(calendar.url);
      setStatus(t("calendar.copied"));
    } catch {
      setStatus(t("calendar.copyFailed"));
    }
  }

  function change(which: "replace" | "remove") {
    action
      .mutateAsync(
        which === "replace" ? { action: which, language: calendar.language } : { action: which },
      )
      .then(
        () => {
          setStatus("");
          stackedToast({
            title: t(which === "replace" ? "calendar.toast.replaced" : "calendar.toast.removed"),
          });
        },
        (error: unknown) => errorToast(t, messageOf(error)),
      )
      .finally(() => setAsking(null));
  }

  return (
    <>
      {calendar.url ? (
        <p className="bg-shade mb-2 max-w-[42em] rounded-sm px-4 py-3 font-mono text-[0.9375rem] break-all select-all">
          {calendar.url}
        </p>
      ) : (
        <p className="mb-2 max-w-[42em]">{t("calendar.unknown")}</p>
      )}
      <p className="text-ink2 mb-3 text-sm">
        {t("calendar.since", {
          when: shortDate(localDay(calendar.created_at), language),
          language: t(`settings.language.${calendar.language}`),
        })}
      </p>
      <div className="flex flex-wrap items-center gap-2">
        {calendar.url && (
          <Button variant="outline" size="sm" onClick={() => void copy()}>
            <Copy {...iconProps} />
            {t("calendar.copy")}
          </Button>
        )}
        <Button variant="outline" size="sm" onClick={() => setAsking("replace")}>
          <RefreshCw {...iconProps} />
          {t("calendar.replace")}
        </Button>
        <Button
          variant="ghost"
          size="sm"
          className="text-danger!"
          onClick={() => setAsking("remove")}
        >
          <Trash2 {...iconProps} />
          {t("calendar.remove")}
        </Button>
        <span role="status" className="text-ink2 text-sm">
          {status}
        </span>
      </div>
      <ConfirmDialog
        open={asking === "replace"}
        onOpenChange={() => setAsking(null)}
        title={t("calendar.replaceTitle")}
        question={t("calendar.replaceQuestion")}
        confirmLabel={t("calendar.replace")}
        onConfirm={() => change("replace")}
        busy={action.isPending}
      />
      <ConfirmDialog
        open={asking === "remove"}
        onOpenChange={() => setAsking(null)}
        title={t("calendar.removeTitle")}
        question={t("calendar.removeQuestion")}
        confirmLabel={t("calendar.remove")}
        onConfirm={() => change("remove")}
        busy={action.isPending}
      />
    </>
  );
}
