import { useId, useRef, useState } from "react";
import { ChevronDown } from "lucide-react";
import { RevisionListState, type RevisionQuery } from "@/components/history/revision-list-state";
import { Button } from "@/components/ui/button";
import {
  DialogClose,
  DialogContent,
  DialogDescription,
  DialogRoot,
  DialogTitle,
  focusDialog,
} from "@/components/ui/dialog";
import { cn } from "@/lib/cn";
import { useLanguage, useT } from "@/lib/i18n";
import { dateTime } from "@/lib/owner-dates";
import type { Revision } from "@/lib/types";

/** A field that differs between an earlier version and the current one, with both values as texts. */
export type HistoryDifference = { label: string; before: string; now: string };

type HistoryDialogProps<Before> = {
  open: boolean;
  onClose(): void;
  title: string;
  /** Loads the earlier versions. */
  query: RevisionQuery<Before>;
  /** Returns the fields in which an earlier version differs from the current one. */
  differences(revision: Revision<Before>): HistoryDifference[];
  /** Makes an earlier version the current one. Resolves with whether that has succeeded. */
  restore(revision: Revision<Before>): Promise<boolean>;
};

/**
 * A dialog with the earlier versions of a row or of the settings. Each version lists the fields that differ from the current
 * version, and has a button that restores the earlier version. A revision is an earlier version and the time at which it was
 * replaced. `Before` is the type of an earlier version.
 */
export function HistoryDialog<Before>({
  open,
  onClose,
  title,
  query,
  differences,
  restore,
}: HistoryDialogProps<Before>) {
  const t = useT();
  return (
    <DialogRoot
      open={open}
      onOpenChange={(isOpen) => {
        if (!isOpen) onClose();
      }}
    >
      <DialogContent
        className="max-w-[720px] p-5 outline-none sm:p-8"
        aria-describedby="history-intro"
        onOpenAutoFocus={focusDialog}
      >
        <DialogTitle className="pr-12 text-[1.75rem] leading-tight font-[350] wrap-anywhere">
          {title}
        </DialogTitle>
        <DialogDescription id="history-intro" className="mt-2">
          {t("history.intro")}
        </DialogDescription>
        <RevisionListState query={query} empty={t("history.empty")}>
          {(revisions) => (
            <ol className="border-ink mt-5 border-t-2">
              {revisions.map((revision) => (
                <VersionItem
                  key={revision.id}
                  revision={revision}
                  differences={differences(revision)}
                  restore={async () => {
                    if (await restore(revision)) onClose();
                  }}
                />
              ))}
            </ol>
          )}
        </RevisionListState>
        <DialogClose />
      </DialogContent>
    </DialogRoot>
  );
}

type VersionItemProps = {
  revision: Revision;
  differences: readonly HistoryDifference[];
  restore(): Promise<void>;
};

/** An earlier version in the list. Its heading is a button that shows or hides the differences. */
function VersionItem({ revision, differences, restore }: VersionItemProps) {
  const t = useT();
  const { language } = useLanguage();
  const id = useId();
  const [open, setOpen] = useState(false);
  const [busy, setBusy] = useState(false);
  // Set immediately, unlike the state, so that a second click before the next render is ignored.
  const running = useRef(false);
  const { actor } = revision;

  async function runRestore() {
    if (running.current) return;
    running.current = true;
    setBusy(true);
    await restore();
    running.current = false;
    setBusy(false);
  }

  return (
    <li className="border-line border-b">
      <h3>
        <button
          type="button"
          aria-expanded={open}
          aria-controls={id}
          onClick={() => setOpen(!open)}
          className="hover:bg-shade flex min-h-14 w-full items-center gap-3 py-2.5 pl-2 pr-2 text-left focus-visible:-outline-offset-3"
        >
          <span className="min-w-0 flex-1 wrap-anywhere">
            <span className="block leading-[1.35] font-[570]">
              {t("history.until", { time: dateTime(revision.changed_at, language) })}
            </span>
            <span className="text-ink2 block text-sm">
              {actor ? t("history.by", { actor }) : t("history.byProgram")}
            </span>
          </span>
          <ChevronDown
            aria-hidden="true"
            size={20}
            strokeWidth={1.75}
            className={cn("flex-none transition-transform duration-200", open && "rotate-180")}
          />
        </button>
      </h3>
      <div id={id} hidden={!open} className="px-2 pt-1 pb-5">
        {differences.length === 0 ? (
          <p>{t("history.same")}</p>
        ) : (
          <>
            <dl className="border-line border-t">
              {differences.map(({ label, before, now }) => (
                <div key={label} className="border-line grid gap-x-6 border-b py-3 sm:grid-cols-2">
                  <dt className="label-text font-[520] sm:col-span-2">{label}</dt>
                  {[
                    [t("history.then"), before],
                    [t("history.now"), now],
                  ].map(([when, text]) => (
                    <dd key={when} className="mt-1 min-w-0 wrap-anywhere">
                      <span className="text-ink2 block text-sm">{when}</span>
                      <span className="line-clamp-6 whitespace-pre-line">{text || "–"}</span>
                    </dd>
                  ))}
                </div>
              ))}
            </dl>
            <Button size="sm" className="mt-4" loading={busy} onClick={() => void runRestore()}>
              {t("history.bringBack")}
            </Button>
          </>
        )}
      </div>
    </li>
  );
}
