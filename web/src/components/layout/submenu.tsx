import { useEffect, useId, useRef, useState, type FocusEvent, type PointerEvent } from "react";
import { ChevronDown } from "lucide-react";
import { Link } from "@/components/ui/link";
import { navItem } from "@/components/layout/nav-item";
import { SUBMENU_CLOSE_DELAY_MS, SUBMENU_OPEN_DELAY_MS } from "@/lib/constants";
import { cn } from "@/lib/cn";

export type SubmenuItem = { label: string; to: string };

type SubmenuProps = {
  label: string;
  to: string;
  toggleLabel: string;
  items: SubmenuItem[];
  current: boolean;
};

// Who opened it decides what closes it: the mouse by leaving, the focus by moving on, a press by
// pressing again, outside, or Escape.
type OpenBy = "mouse" | "focus" | "press" | null;

/** A word that is a link, and a chevron that shows more; open instantly, closed 100 ms after leaving. */
export function Submenu({ label, to, toggleLabel, items, current }: SubmenuProps) {
  const [openBy, setOpenBy] = useState<OpenBy>(null);
  const open = openBy !== null;
  const panelId = useId();
  const root = useRef<HTMLDivElement>(null);
  const toggle = useRef<HTMLButtonElement>(null);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);

  useEffect(() => () => clearTimeout(timer.current), []);

  useEffect(() => {
    if (!open) return;
    const onPointerDown = (event: globalThis.PointerEvent) => {
      if (!root.current?.contains(event.target as Node)) setOpenBy(null);
    };
    // On the document, because a menu opened by the mouse has no focus to receive the key.
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.key !== "Escape") return;
      if (root.current?.contains(document.activeElement)) toggle.current?.focus();
      setOpenBy(null);
    };
    document.addEventListener("pointerdown", onPointerDown);
    document.addEventListener("keydown", onKeyDown);
    return () => {
      document.removeEventListener("pointerdown", onPointerDown);
      document.removeEventListener("keydown", onKeyDown);
    };
  }, [open]);

  function onPointerEnter(event: PointerEvent) {
    if (event.pointerType !== "mouse") return;
    clearTimeout(timer.current);
    const show = () => setOpenBy((by) => by ?? "mouse");
    if (SUBMENU_OPEN_DELAY_MS > 0) timer.current = setTimeout(show, SUBMENU_OPEN_DELAY_MS);
    else show();
  }

  function onPointerLeave(event: PointerEvent) {
    if (event.pointerType !== "mouse") return;
    clearTimeout(timer.current);
    timer.current = setTimeout(
      () => setOpenBy((by) => (by === "mouse" ? null : by)),
      SUBMENU_CLOSE_DELAY_MS,
    );
  }

  function onFocus(event: FocusEvent) {
    // Only focus that comes from outside, and only by keyboard: Escape must not reopen it.
    if (root.current?.contains(event.relatedTarget)) return;
    if (event.target.matches(":focus-visible")) setOpenBy((by) => by ?? "focus");
  }

  function onBlur(event: FocusEvent) {
    if (!root.current?.contains(event.relatedTarget)) {
      setOpenBy((by) => (by === "mouse" ? by : null));
    }
  }

  return (
    <div
      ref={root}
      className="relative flex"
      onPointerEnter={onPointerEnter}
      onPointerLeave={onPointerLeave}
      onFocus={onFocus}
      onBlur={onBlur}
    >
      <Link
        to={to}
        aria-current={current ? "true" : undefined}
        onClick={() => setOpenBy(null)}
        // The band under the word runs on under the chevron.
        className={cn(navItem(current), "after:-right-[22px]")}
      >
        {label}
      </Link>
      <button
        ref={toggle}
        type="button"
        aria-label={toggleLabel}
        aria-expanded={open}
        aria-controls={panelId}
        onClick={(event) => {
          // The mouse has opened it already by arriving; its press keeps it open. Keys toggle.
          const byMouse = openBy === "mouse" && event.detail > 0;
          setOpenBy(open && !byMouse ? null : "press");
        }}
        className="-mr-[22px] flex h-11 w-11 flex-none items-center rounded-sm pl-1"
      >
        <ChevronDown
          aria-hidden="true"
          size={18}
          strokeWidth={1.75}
          className={cn("ease-cal transition-transform duration-200", open && "rotate-180")}
        />
      </button>
      <div
        id={panelId}
        hidden={!open}
        className="submenu-panel animate-fade-in absolute top-[calc(100%-6px)] -left-3 z-10 pt-3 [animation-duration:120ms]"
      >
        <ul className="bg-pop text-ink shadow-pop border-barra w-[232px] rounded-sm border-b-6 py-2">
          {items.map((item) => (
            <li key={item.to}>
              <Link
                to={item.to}
                onClick={() => setOpenBy(null)}
                className="hover:bg-anil-tint focus-visible:bg-anil-tint flex min-h-[46px] items-center px-5 leading-snug focus-visible:-outline-offset-3"
              >
                {item.label}
              </Link>
            </li>
          ))}
        </ul>
      </div>
    </div>
  );
}
