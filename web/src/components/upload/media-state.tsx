import { TriangleAlert } from "lucide-react";
import { failureKey } from "@/components/upload/failure";
import { useLanguage, useT } from "@/lib/i18n";
import type { Language } from "@/lib/boot";
import type { FilmInfo, ImageInfo } from "@/lib/media";
import { cn } from "@/lib/cn";

/** 1,000 to a kB and the reader's decimal sign. */
export function sizeText(bytes: number, language: Language): string {
  const text =
    bytes >= 1_000_000
      ? `${(bytes / 1_000_000).toFixed(bytes < 10_000_000 ? 1 : 0)} MB`
      : `${Math.max(1, Math.round(bytes / 1000))} kB`;
  return language === "pt" ? text.replace(".", ",") : text;
}

/** What browsers play, by the code in the file. HEVC and ProRes play on few of them. */
const codecs: Record<string, { name: string; plays: boolean }> = {
  avc1: { name: "H.264", plays: true },
  avc3: { name: "H.264", plays: true },
  vp08: { name: "VP8", plays: true },
  vp09: { name: "VP9", plays: true },
  av01: { name: "AV1", plays: true },
  hvc1: { name: "HEVC", plays: false },
  hev1: { name: "HEVC", plays: false },
  ...Object.fromEntries(
    ["apch", "apcn", "apcs", "apco", "ap4h", "ap4x"].map((code) => [
      code,
      { name: "ProRes", plays: false },
    ]),
  ),
};

export function codecOf(code: string): { name: string; plays: boolean } {
  return codecs[code] ?? { name: code, plays: true };
}

export function timeText(seconds: number): string {
  const whole = Math.round(seconds);
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}`;
}

type MediaStateProps = { info: ImageInfo | FilmInfo | undefined; className?: string };

/** One small line: how far a file's smaller pictures are, what they save, and how true their colours are. */
export function MediaState({ info, className }: MediaStateProps) {
  const t = useT();
  const { language } = useLanguage();
  const details = info?.details;
  if (!info || (info.kind === "image" && !details)) return null;
  const line = cn("text-ink2 text-[.9375rem] leading-[1.35] lining-nums", className);
  if (info.kind === "video") {
    const codec = info.codec ? codecOf(info.codec) : undefined;
    const facts = [
      info.duration !== undefined && timeText(info.duration),
      codec?.name,
      details && sizeText(details.public, language),
    ].filter(Boolean);
    return (
      <p className={line}>
        {facts.join(" · ")}
        {details?.state === "failed" && (
          <span className="text-telha mt-1 flex gap-1.5">
            <TriangleAlert aria-hidden="true" size={18} strokeWidth={1.75} className="flex-none" />
            {t(failureKey(details.reason))}
          </span>
        )}
        {codec && !codec.plays && (
          <span className="text-telha mt-1 flex gap-1.5">
            <TriangleAlert aria-hidden="true" size={18} strokeWidth={1.75} className="flex-none" />
            {t("media.unplayable", { codec: codec.name })}
          </span>
        )}
      </p>
    );
  }
  if (details?.state === "waiting") return <p className={line}>{t("media.preparing")}</p>;
  if (details?.state === "failed")
    return (
      <p className={cn(line, "text-telha!")}>
        {t("media.failed", { reason: t(failureKey(details.reason)) })}
      </p>
    );
  // What a large screen gets, the most that a visitor ever loads at once.
  const after = Math.max(0, ...Object.values(details?.ladder ?? {}));
  const delta = details?.delta_e ?? 0;
  const number = delta.toFixed(1);
  return (
    <p className={line}>
      {after > 0 &&
        `${sizeText(details?.original ?? 0, language)} → ${sizeText(after, language)} · `}
      {t(delta < 1 ? "media.true" : delta < 3 ? "media.close" : "media.off", {
        n: language === "pt" ? number.replace(".", ",") : number,
      })}
    </p>
  );
}

/** Whether any file of these rows is still being worked on: then the list is read again. */
export function isPreparing(rows: readonly { media?: Record<string, ImageInfo | FilmInfo> }[]) {
  return rows.some((row) =>
    Object.values(row.media ?? {}).some(({ details }) => details?.state === "waiting"),
  );
}
