import { useId, useRef, useState, type KeyboardEvent, type MouseEvent } from "react";
import { useQueryClient } from "@tanstack/react-query";
import { errorToast } from "@/lib/error-toast";
import { useOwnerBackend } from "@/lib/backend";
import { messageOf } from "@/lib/errors";
import { useT } from "@/lib/i18n";
import type { ImageInfo } from "@/lib/media";
import { refetch } from "@/lib/refetch";
import { cn } from "@/lib/cn";

type FocusPickerProps = {
  /** The URL of the file, as the row stores it. */
  url: string;
  /** Metadata of the file. */
  info: ImageInfo;
  /** The key of the queries whose rows contain this file. They are refetched after a change. */
  queryKey: readonly string[];
  className?: string;
};

/** How far an arrow key moves the focus point, as a share of the picture. */
const STEP = 0.05;
/** The focus point of a picture without a stored one: 50 % from the left, 62 % from the top, as at the top of the home page. */
const DEFAULT_FOCUS: [number, number] = [0.5, 0.62];

/** Limits a share to the range from 0 to 1 and rounds it to three digits. */
const clampShare = (share: number) => Math.round(Math.min(1, Math.max(0, share)) * 1000) / 1000;

/**
 * Lets the owner set the focus point of a picture: the point that stays visible when the picture is cropped. A click or the
 * arrow keys move the point. The component is rendered over a preview. The coordinates are shares of the picture's width and
 * height, from 0 to 1.
 */
export function FocusPicker({ url, info, queryKey, className }: FocusPickerProps) {
  const t = useT();
  const backend = useOwnerBackend();
  const queryClient = useQueryClient();
  const hintId = useId();
  // The focus point that the owner has chosen here; null until then and after a failure.
  const [chosen, setChosen] = useState<[number, number] | null>(null);
  const [x, y] = chosen ?? info.focus ?? DEFAULT_FOCUS;
  const percent = (share: number) => Math.round(share * 100);

  // Settles when the last save has ended. Saves run one after the other: if two overlapped, the first could reach the server last and
  // overwrite the newer focus point.
  const lastSave = useRef(Promise.resolve());
  function save(point: [number, number]) {
    setChosen(point);
    lastSave.current = lastSave.current.then(() => store(point));
  }

  async function store([newX, newY]: [number, number]) {
    const { error } = await backend.rpc("set_media_focus", { address: url, x: newX, y: newY });
    if (error) {
      setChosen(null);
      errorToast(t, messageOf(error));
      return;
    }
    void refetch(queryClient, queryKey);
  }

  function onClick(event: MouseEvent<HTMLElement>) {
    const box = event.currentTarget.getBoundingClientRect();
    // A click that a key has caused has no coordinates; its `detail` is 0.
    if (event.detail === 0) return;
    // Converts the click to shares of the whole picture: the preview shows it cropped around the current focus point.
    const scale = Math.max(box.width / info.width, box.height / info.height);
    const toShare = (offset: number, boxSize: number, imageSize: number, currentFocus: number) =>
      clampShare((offset - (boxSize - imageSize) * currentFocus) / imageSize);
    save([
      toShare(event.clientX - box.left, box.width, info.width * scale, x),
      toShare(event.clientY - box.top, box.height, info.height * scale, y),
    ]);
  }

  function onKeyDown(event: KeyboardEvent<HTMLElement>) {
    // Undefined for other keys. The cast is only for the type checker.
    const direction = (
      { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] } as const
    )[event.key as "ArrowLeft"];
    if (!direction) return;
    event.preventDefault();
    save([clampShare(x + direction[0] * STEP), clampShare(y + direction[1] * STEP)]);
  }

  return (
    <>
      <button
        type="button"
        aria-label={t("media.focus", { x: percent(x), y: percent(y) })}
        aria-describedby={hintId}
        title={t("media.focusHint")}
        onClick={onClick}
        onKeyDown={onKeyDown}
        className={cn(
          "absolute inset-0 cursor-crosshair focus-visible:-outline-offset-3",
          className,
        )}
      >
        <span
          aria-hidden="true"
          className="pointer-events-none absolute size-7 -translate-1/2 rounded-full border-2 border-white [box-shadow:0_0_0_2px_rgb(9_13_28/.7)]"
          style={{ left: `${percent(x)}%`, top: `${percent(y)}%` }}
        />
      </button>
      <span id={hintId} className="sr-only">
        {t("media.focusHint")}
      </span>
    </>
  );
}
