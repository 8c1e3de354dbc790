import { useId, useState, type ReactNode } from "react";
import { ChevronDown, ExternalLink } from "lucide-react";
import { useSiteHealth } from "@/features/admin-dashboard/api/health";
import { formatAgo, formatBytes } from "@/features/admin-dashboard/quantities";
import { cn } from "@/lib/cn";
import { longDate } from "@/lib/dates";
import { useLanguage, useT } from "@/lib/i18n";
import { dateTime, localDay } from "@/lib/owner-dates";
import type { SiteHealth } from "@/lib/types";

/**
 * The health of the site (the state of its backups, disk, mails and certificate) in one line, with a button that shows the details.
 * An item of the line is green only if it is proved: the server has recently seen it work.
 */
export function HealthLine() {
  const t = useT();
  const id = useId();
  const [open, setOpen] = useState(false);
  const { data, isError } = useSiteHealth();
  if (!data) {
    return isError ? <p className="text-ink2 mt-8 text-sm">{t("health.unknown")}</p> : null;
  }
  return (
    <section aria-label={t("health.title")} className="mt-8 max-w-[64rem] text-sm">
      <p className="text-ink2 leading-[1.6] wrap-anywhere">
        <Summary health={data} />
      </p>
      {data.backup.same_disk && <p className="mt-1.5">{t("health.sameDisk")}</p>}
      {data.release?.newer && <NewerRelease newer={data.release.newer} ownVersion={data.version} />}
      <button
        type="button"
        aria-expanded={open}
        aria-controls={id}
        onClick={() => setOpen(!open)}
        className="text-link inline-flex min-h-11 items-center gap-1.5 font-[520]"
      >
        {t("health.details")}
        <ChevronDown
          aria-hidden="true"
          size={18}
          strokeWidth={1.75}
          className={cn("flex-none transition-transform duration-200", open && "rotate-180")}
        />
      </button>
      <div id={id} hidden={!open}>
        <Details health={data} />
      </div>
    </section>
  );
}

type NewerReleaseProps = {
  newer: NonNullable<NonNullable<SiteHealth["release"]>["newer"]>;
  ownVersion: string;
};

/** Says that there is a newer release, and what to do. It is not an alert, because nothing is wrong with the site. */
function NewerRelease({ newer, ownVersion }: NewerReleaseProps) {
  const t = useT();
  const { language } = useLanguage();
  const { version, date, notes } = newer;
  return (
    <p className="mt-1.5 wrap-anywhere">
      {t("health.newer", { version, date: longDate(date, language), own: ownVersion })}
      {/* `notes` is the URL of a page with the changes; "" if there is none. */}
      {notes.startsWith("https://") && (
        <>
          {" "}
          <a
            href={notes}
            target="_blank"
            rel="noreferrer"
            className="text-link inline-flex min-h-11 items-center gap-1.5 underline underline-offset-4"
          >
            {t("health.newerNotes")}
            <ExternalLink aria-hidden="true" size={16} strokeWidth={1.75} className="flex-none" />
          </a>
        </>
      )}
    </p>
  );
}

/** An item of the line. It is green if `proved` is true. */
type Item = { proved?: boolean; text: string };

/** The items of the line, with dots between them. */
function Summary({ health }: { health: SiteHealth }) {
  const t = useT();
  const { language } = useLanguage();
  const { backup, disk, mail, certificate, version, checked_at } = health;
  const formatAge = (iso: string) => formatAgo(iso, checked_at, language) ?? t("health.now");

  const items: Item[] = [];
  if (backup.destination === "") {
    items.push({ text: t("health.backupOff") });
  } else {
    items.push({
      proved: backup.proved,
      text: backup.last_at
        ? t("health.backup", { when: formatAge(backup.last_at), destination: backup.destination })
        : t("health.backupNone"),
    });
    if (backup.last_at) {
      items.push({
        proved: backup.proved,
        text: backup.proof_at
          ? t("health.proof", { when: formatAge(backup.proof_at) })
          : t("health.proofNone"),
      });
    }
    if (backup.waiting_files > 0)
      items.push({ text: t("health.files", { n: backup.waiting_files }) });
  }
  if (disk.total > 0) {
    items.push({
      proved: disk.proved,
      text: t("health.disk", { free: formatBytes(disk.free, language) }),
    });
  }
  // If there is no mail server, NoMailServer at the top of the page says so.
  if (mail.server) {
    items.push({
      proved: mail.proved,
      text: mail.delivered_at
        ? t("health.mail", { when: formatAge(mail.delivered_at) })
        : t("health.mailNone"),
    });
    if (mail.waiting > 0) items.push({ text: t("health.mailWaiting", { n: mail.waiting }) });
    if (mail.retried > 0) items.push({ text: t("health.mailFailing", { n: mail.retried }) });
  }
  if (certificate) {
    items.push({
      proved: certificate.proved,
      text: certificate.ends_at
        ? t("health.certificate", { date: longDate(localDay(certificate.ends_at), language) })
        : t("health.certificateNone"),
    });
  }
  items.push({ text: t("health.version", { version }) });

  return items.map(({ proved, text }, n) => (
    <span key={n}>
      <span className={cn(proved && "text-green")}>{text}</span>
      {/* The dot stays at the end of a line; screen readers get a comma. */}
      {n < items.length - 1 && (
        <>
          <span aria-hidden="true">{"\u00a0\u00b7 "}</span>
          <span className="sr-only">, </span>
        </>
      )}
    </span>
  ));
}

/** The details in rows: one for each part of the health. */
function Details({ health }: { health: SiteHealth }) {
  const t = useT();
  const { language } = useLanguage();
  const { backup, disk, mail, certificate, version, release } = health;
  const formatTime = (iso: string) => dateTime(iso, language);
  const proofText = (proved: boolean) => (proved ? t("health.proved") : t("health.unproved"));
  const backupText = backup.same_disk ? t("health.unprovedDisk") : proofText(backup.proved);
  const releaseText = () => {
    if (release?.failing_since) return t("health.detail.releaseUnread");
    if (release?.newer || !release?.read_at) return undefined;
    return t("health.detail.releaseNewest", { time: formatTime(release.read_at) });
  };

  return (
    <dl className="border-ink mt-1 grid border-t-2 md:grid-cols-[14rem_1fr]">
      <Row
        label={t("health.label.backup")}
        state={backup.destination === "" ? undefined : backupText}
      >
        {backup.destination === "" && t("health.backupOff")}
        {backup.destination !== "" &&
          (backup.last_at
            ? t("health.detail.backup", {
                time: formatTime(backup.last_at),
                destination: backup.destination,
              })
            : t("health.detail.backupNone", { destination: backup.destination }))}
        {backup.waiting_files > 0 && <> {t("health.detail.files", { n: backup.waiting_files })}</>}
      </Row>
      {backup.destination !== "" && (
        <Row label={t("health.label.proof")}>
          {backup.proof_at && backup.proven_restore_point
            ? t("health.detail.proof", {
                time: formatTime(backup.proof_at),
                restorePoint: formatTime(backup.proven_restore_point),
              })
            : t("health.detail.proofNone")}
          {backup.unproven_files > 0 && (
            <> {t("health.detail.proofFiles", { n: backup.unproven_files })}</>
          )}
        </Row>
      )}
      <Row label={t("health.label.disk")} state={proofText(disk.proved)}>
        {disk.total > 0
          ? t("health.detail.disk", {
              free: formatBytes(disk.free, language),
              total: formatBytes(disk.total, language),
            })
          : t("health.detail.diskNone")}
      </Row>
      {mail.server && (
        <Row
          label={t("health.label.mail")}
          state={proofText(mail.proved)}
          more={t("health.detail.mailQueue", {
            waiting: mail.waiting,
            retried: mail.retried,
            failed: mail.failed,
          })}
        >
          {mail.delivered_at
            ? t("health.detail.mail", { time: formatTime(mail.delivered_at) })
            : t("health.detail.mailNone")}
        </Row>
      )}
      {certificate && (
        <Row label={t("health.label.certificate")} state={proofText(certificate.proved)}>
          {certificate.ends_at
            ? t("health.detail.certificate", {
                domain: certificate.domain,
                time: formatTime(certificate.ends_at),
              })
            : t("health.detail.certificateNone", { domain: certificate.domain })}
        </Row>
      )}
      <Row label={t("health.label.version")} more={releaseText()}>
        {version}
      </Row>
    </dl>
  );
}

type RowProps = { label: string; state?: string; more?: string; children: ReactNode };

/**
 * A row of the details. `state` says in words whether it is proved, which the line shows by green. `more` is a further
 * sentence.
 */
function Row({ label, state, more, children }: RowProps) {
  return (
    <>
      <dt className="md:border-line pt-2.5 font-[560] md:border-b md:py-2.5">{label}</dt>
      <dd className="border-line border-b pb-2.5 wrap-anywhere md:py-2.5">
        {children}
        {state && <span className="text-ink2"> {state}</span>}
        {more && <> {more}</>}
      </dd>
    </>
  );
}
