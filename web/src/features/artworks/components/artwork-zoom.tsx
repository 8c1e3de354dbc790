import { useEffect, useId, useRef, useState, type KeyboardEvent, type PointerEvent } from "react";
import { Maximize, Minus, Plus } from "lucide-react";
import * as Dialog from "radix-ui/dialog";
import { DialogClose } from "@/components/ui/dialog";
import { IconButton } from "@/components/ui/icon-button";
import { cn } from "@/lib/cn";
import { useLanguage, useT } from "@/lib/i18n";
import type { LocalText } from "@/lib/local-text";
import { renditionUrl, pickWidth, type ImageInfo } from "@/lib/media";
import {
  fitSize,
  maxScale,
  clampTransform,
  zoomAt,
  tileBox,
  visibleTiles,
  fullTransform,
  type Transform,
} from "@/features/artworks/zoom-transform";

type ArtworkZoomProps = {
  src: string;
  info: ImageInfo;
  title: string;
  /** The alternative text of the picture (what it shows, in words). */
  alt: LocalText;
  onClose(): void;
};

/** The factor by which one click on a button or one key press zooms. */
const ZOOM_STEP = 1.5;
/** How far an arrow key moves the picture, in CSS pixels. */
const PAN_PX = 80;
/** The longest duration of a tap, and the maximum time between the taps of a double tap, in milliseconds. */
const TAP_MS = 300;
/** The largest distance between the taps of a double tap, in CSS pixels. */
const TAP_PX = 24;

/** A full-screen view of one picture, zoomed by wheel, pinch, double tap, buttons and keys. */
export function ArtworkZoom({ src, info, title, alt, onClose }: ArtworkZoomProps) {
  const t = useT();
  const { language } = useLanguage();
  const keysId = useId();
  // The element that had the focus before the view opened. It gets the focus back when the view closes.
  const opener = useRef<Element | null>(null);
  // The stage (the area that shows the picture), and its size in CSS pixels; 0 until it is measured.
  const [stage, setStage] = useState<HTMLElement | null>(null);
  const [size, setSize] = useState({ width: 0, height: 0 });
  const [requestedTransform, setTransform] = useState<Transform>(fullTransform);
  // Whether to animate the last change: true after a button or key, false while the picture follows a pointer.
  const [animated, setAnimated] = useState(false);
  const isMeasured = size.width > 0;
  const transform = isMeasured ? clampTransform(requestedTransform, info, size) : fullTransform;
  // The size of the picture at scale 1 in CSS pixels, and the largest scale.
  const fittedSize = isMeasured ? fitSize(info, size) : { width: 0, height: 0 };
  const largestScale = isMeasured ? maxScale(info, fittedSize) : 1;

  // Follows the size of the stage.
  useEffect(() => {
    if (!stage) return;
    const observer = new ResizeObserver(() =>
      setSize({ width: stage.clientWidth, height: stage.clientHeight }),
    );
    observer.observe(stage);
    return () => observer.disconnect();
  }, [stage]);

  /** Zooms by a factor. The point `at` of the stage, relative to the stage's centre, stays in its place. */
  function zoom(factor: number, at = { x: 0, y: 0 }, animate = true) {
    setAnimated(animate);
    setTransform((current) => zoomAt(clampTransform(current, info, size), factor, at, info, size));
  }
  /** Moves the picture by x and y CSS pixels. */
  function pan(x: number, y: number, animate = true) {
    setAnimated(animate);
    setTransform((current) => {
      const from = clampTransform(current, info, size);
      return clampTransform({ ...from, x: from.x + x, y: from.y + y }, info, size);
    });
  }
  function resetZoom() {
    setAnimated(true);
    setTransform(fullTransform);
  }

  /** Converts a point of the window to one relative to the centre of the stage. */
  function fromCentre({ clientX, clientY }: { clientX: number; clientY: number }) {
    const box = stage?.getBoundingClientRect() ?? new DOMRect();
    return { x: clientX - box.x - box.width / 2, y: clientY - box.y - box.height / 2 };
  }

  // The latest wheel handler.
  const onWheel = useRef<(event: WheelEvent) => void>(undefined);
  useEffect(() => {
    onWheel.current = (event) => {
      event.preventDefault();
      // deltaMode 1 counts lines, 2 counts pages. A pinch on a trackpad arrives as a wheel event with Ctrl and small
      // deltas.
      const unit = event.deltaMode === 1 ? 18 : event.deltaMode === 2 ? 400 : 1;
      const delta = Math.max(-100, Math.min(100, event.deltaY * unit));
      zoom(Math.exp(-delta * (event.ctrlKey ? 0.01 : 0.003)), fromCentre(event), false);
    };
  });
  // A native listener, because React's is passive and cannot prevent the browser from zooming the page.
  useEffect(() => {
    if (!stage) return;
    const listen = (event: WheelEvent) => onWheel.current?.(event);
    stage.addEventListener("wheel", listen, { passive: false });
    return () => stage.removeEventListener("wheel", listen);
  }, [stage]);

  // The pointers on the stage; two of them pinch.
  const pointers = useRef(new Map<number, { clientX: number; clientY: number }>());
  // The press of a single pointer, which is a tap if it is short and does not move, and the tap before it. `time` is that of
  // the event in milliseconds.
  const tap = useRef<{ time: number; x: number; y: number; moved: boolean } | null>(null);
  const lastTap = useRef<{ time: number; x: number; y: number } | null>(null);

  function onPointerDown(event: PointerEvent<HTMLElement>) {
    if (event.button !== 0) return;
    event.currentTarget.setPointerCapture(event.pointerId);
    const { clientX, clientY } = event;
    pointers.current.set(event.pointerId, { clientX, clientY });
    const isOnly = pointers.current.size === 1;
    tap.current = isOnly ? { time: event.timeStamp, x: clientX, y: clientY, moved: false } : null;
  }
  function onPointerMove(event: PointerEvent<HTMLElement>) {
    const before = pointers.current.get(event.pointerId);
    if (!before) return;
    const now = { clientX: event.clientX, clientY: event.clientY };
    const other = [...pointers.current].find(([id]) => id !== event.pointerId)?.[1];
    pointers.current.set(event.pointerId, now);
    const isFar = (from: { x: number; y: number }) =>
      Math.hypot(now.clientX - from.x, now.clientY - from.y) > TAP_PX / 2;
    if (tap.current && isFar(tap.current)) tap.current.moved = true;
    const dx = now.clientX - before.clientX;
    const dy = now.clientY - before.clientY;
    if (!other) return pan(dx, dy, false);
    const distance = (point: typeof now) =>
      Math.hypot(point.clientX - other.clientX, point.clientY - other.clientY);
    const centre = fromCentre({
      clientX: (now.clientX + other.clientX) / 2,
      clientY: (now.clientY + other.clientY) / 2,
    });
    pan(dx / 2, dy / 2, false);
    zoom(distance(now) / Math.max(1, distance(before)), centre, false);
  }
  function onPointerUp(event: PointerEvent<HTMLElement>) {
    pointers.current.delete(event.pointerId);
    const press = tap.current;
    tap.current = null;
    if (!press || press.moved || event.timeStamp - press.time > TAP_MS) return;
    const first = lastTap.current;
    lastTap.current = { time: event.timeStamp, x: press.x, y: press.y };
    if (!first || event.timeStamp - first.time > TAP_MS) return;
    if (Math.hypot(press.x - first.x, press.y - first.y) > TAP_PX) return;
    lastTap.current = null;
    if (transform.scale > 1.01) resetZoom();
    else zoom(Math.max(2, Math.min(largestScale, 3)), fromCentre(event));
  }

  function onKeyDown(event: KeyboardEvent<HTMLElement>) {
    // The carousel of the dialog below must not handle the key too.
    event.stopPropagation();
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const action = {
      "+": () => zoom(ZOOM_STEP),
      "=": () => zoom(ZOOM_STEP),
      "-": () => zoom(1 / ZOOM_STEP),
      "0": resetZoom,
      ArrowLeft: () => pan(PAN_PX, 0),
      ArrowRight: () => pan(-PAN_PX, 0),
      ArrowUp: () => pan(0, PAN_PX),
      ArrowDown: () => pan(0, -PAN_PX),
    }[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  }

  // The displayed width in CSS pixels.
  const shownWidth = fittedSize.width * transform.scale;
  const density = isMeasured ? window.devicePixelRatio : 1;
  const renditionWidth = isMeasured ? pickWidth(info.widths, shownWidth, density) : 0;
  const tiles =
    isMeasured && info.tiles && shownWidth * density > (info.widths.at(-1) ?? 0)
      ? visibleTiles(transform, info, size)
      : [];
  const factor = (Math.round(transform.scale * 10) / 10).toString();
  const factorText = language === "pt" ? factor.replace(".", ",") : factor;

  return (
    <Dialog.Root open onOpenChange={(open) => !open && onClose()}>
      <Dialog.Portal>
        <Dialog.Content
          aria-describedby={keysId}
          onKeyDown={onKeyDown}
          onOpenAutoFocus={(event) => {
            event.preventDefault();
            opener.current = document.activeElement;
            stage?.focus({ preventScroll: true });
          }}
          onCloseAutoFocus={(event) => {
            event.preventDefault();
            if (opener.current instanceof HTMLElement)
              opener.current.focus({ preventScroll: true });
          }}
          className="bg-shade text-ink data-[state=open]:animate-fade-in fixed inset-0 z-60 grid grid-rows-[minmax(0,1fr)_auto]"
        >
          <Dialog.Title className="sr-only">{t("zoom.title", { title })}</Dialog.Title>
          <p id={keysId} className="sr-only">
            {t("zoom.keys")}
          </p>
          <div
            ref={setStage}
            role="group"
            aria-label={title}
            aria-describedby={keysId}
            // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- arrow keys pan its content
            tabIndex={0}
            onPointerDown={onPointerDown}
            onPointerMove={onPointerMove}
            onPointerUp={onPointerUp}
            onPointerCancel={(event) => {
              pointers.current.delete(event.pointerId);
              tap.current = null;
            }}
            className={cn(
              "relative touch-none overflow-hidden select-none focus-visible:-outline-offset-4",
              transform.scale > 1 ? "cursor-grab active:cursor-grabbing" : "cursor-zoom-in",
            )}
          >
            <div
              className={cn(
                "work-shadow absolute top-1/2 left-1/2",
                animated && "ease-soft transition-[translate,width,height] duration-200",
              )}
              style={{
                width: shownWidth,
                height: fittedSize.height * transform.scale,
                translate: `calc(-50% + ${transform.x}px) calc(-50% + ${transform.y}px)`,
                backgroundColor: info.color,
              }}
            >
              {renditionWidth > 0 && (
                <Layers src={src} info={info} width={renditionWidth} alt={alt} />
              )}
              {tiles.map((tile) => (
                <img
                  key={`${tile.column},${tile.row}`}
                  src={renditionUrl(src, `tile=${tile.column},${tile.row}&v=${info.v}`)}
                  alt=""
                  decoding="async"
                  draggable={false}
                  className="pointer-events-none absolute max-w-none"
                  style={tileBox(tile, info)}
                />
              ))}
            </div>
          </div>
          <div className="bg-pop border-band flex items-center justify-center gap-2 border-b-10 px-4 py-3">
            <IconButton
              label={t("zoom.out")}
              aria-disabled={transform.scale <= 1 || undefined}
              onClick={() => zoom(1 / ZOOM_STEP)}
            >
              <Minus aria-hidden="true" size={20} strokeWidth={1.75} />
            </IconButton>
            <p className="oldstyle min-w-16 text-center">
              <span aria-hidden="true">{factorText} ×</span>
              <span role="status" className="sr-only">
                {t("zoom.now", { n: factorText })}
              </span>
            </p>
            <IconButton
              label={t("zoom.in")}
              aria-disabled={transform.scale >= largestScale || undefined}
              onClick={() => zoom(ZOOM_STEP)}
            >
              <Plus aria-hidden="true" size={20} strokeWidth={1.75} />
            </IconButton>
            <IconButton
              label={t("zoom.whole")}
              aria-disabled={transform.scale <= 1 || undefined}
              onClick={resetZoom}
            >
              <Maximize aria-hidden="true" size={20} strokeWidth={1.5} />
            </IconButton>
          </div>
          <DialogClose className="bg-pop top-1 right-1 md:top-3.5 md:right-3.5" />
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

/**
 * The picture in the width of the ladder that the zoom needs. The previous width stays below it until it has loaded.
 */
function Layers({
  src,
  info,
  width,
  alt,
}: {
  src: string;
  info: ImageInfo;
  width: number;
  alt: LocalText;
}) {
  const [largest, setLargest] = useState(width);
  // The largest width that has loaded.
  const [loaded, setLoaded] = useState(0);
  // After zooming out, the larger width stays in use.
  if (width > largest) setLargest(width);
  return [...new Set([loaded, largest])]
    .filter((layer) => layer > 0)
    .map((layer) => (
      <img
        key={layer}
        src={renditionUrl(src, `width=${layer}&v=${info.v}`)}
        alt={layer === largest ? alt.text : ""}
        lang={alt.lang}
        decoding="async"
        draggable={false}
        onLoad={() => setLoaded((before) => Math.max(before, layer))}
        className="pointer-events-none absolute inset-0 size-full max-w-none"
      />
    ));
}
