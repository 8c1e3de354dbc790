import { useEffect, useId, useRef, useState, type FocusEvent, type PointerEvent } from "react";
import { ChevronDown } from "lucide-react";
import { Link } from "@/components/ui/link";
import { navItemClasses } from "@/components/layout/nav-item";
import { SUBMENU_CLOSE_DELAY_MS, SUBMENU_OPEN_DELAY_MS } from "@/lib/constants";
import { cn } from "@/lib/cn";

/** A link in the submenu: its text and path. */
type SubmenuItem = { label: string; to: string };

type SubmenuProps = {
  /** Text and path of the header link. */
  label: string;
  to: string;
  /** Accessible name of the button that opens the submenu. */
  toggleLabel: string;
  items: SubmenuItem[];
  /** Whether the link or one of the items is the current page. */
  current: boolean;
};

/**
 * What opened the submenu; null while it is closed. A submenu that the mouse has opened closes when the mouse leaves. A submenu
 * that the focus or a click has opened closes when the focus leaves or when the button is clicked again. A click outside and
 * Escape close every submenu.
 */
type OpenCause = "mouse" | "focus" | "click" | null;

/** If the focus is in the submenu, moves it to the header link ("a") or the button, so that it is not lost with a hidden link. */
function keepFocus(submenu: HTMLElement | null, target: "a" | "button"): void {
  if (submenu?.contains(document.activeElement))
    submenu.querySelector<HTMLElement>(target)?.focus();
}

/** A header link with a submenu. The submenu opens on hover, on keyboard focus and by the button beside the link. */
export function Submenu({ label, to, toggleLabel, items, current }: SubmenuProps) {
  const [openCause, setOpenCause] = useState<OpenCause>(null);
  const open = openCause !== null;
  const panelId = useId();
  const root = useRef<HTMLDivElement>(null);
  // The timer of the delay before the mouse opens or closes the submenu.
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);

  useEffect(() => () => clearTimeout(timer.current), []);

  // Closes the submenu after a click outside or Escape.
  useEffect(() => {
    if (!open) return;
    const onPointerDown = (event: globalThis.PointerEvent) => {
      if (!root.current?.contains(event.target as Node)) setOpenCause(null);
    };
    // The listener is on the document, because a submenu that the mouse has opened does not contain the focus.
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.key !== "Escape") return;
      keepFocus(root.current, "button");
      setOpenCause(null);
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
    const show = () => setOpenCause((cause) => cause ?? "mouse");
    if (SUBMENU_OPEN_DELAY_MS > 0) timer.current = setTimeout(show, SUBMENU_OPEN_DELAY_MS);
    else show();
  }

  function onPointerLeave(event: PointerEvent) {
    if (event.pointerType !== "mouse") return;
    clearTimeout(timer.current);
    timer.current = setTimeout(
      () => setOpenCause((cause) => (cause === "mouse" ? null : cause)),
      SUBMENU_CLOSE_DELAY_MS,
    );
  }

  function onFocus(event: FocusEvent) {
    // Opens only for keyboard focus that comes from outside. Escape moves the focus within the submenu, which must not reopen it.
    if (root.current?.contains(event.relatedTarget)) return;
    if (event.target.matches(":focus-visible")) setOpenCause((cause) => cause ?? "focus");
  }

  function onBlur(event: FocusEvent) {
    if (!root.current?.contains(event.relatedTarget)) {
      setOpenCause((cause) => (cause === "mouse" ? cause : null));
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
        onClick={() => setOpenCause(null)}
        // The line under the link continues under the chevron.
        className={cn(navItemClasses(current), "after:-right-[22px]")}
      >
        {label}
      </Link>
      <button
        type="button"
        aria-label={toggleLabel}
        aria-expanded={open}
        aria-controls={panelId}
        onClick={(event) => {
          // Hovering has opened the menu already, so a mouse click keeps it open. Keys toggle.
          const byMouse = openCause === "mouse" && event.detail > 0;
          setOpenCause(open && !byMouse ? null : "click");
        }}
        className="-mr-[10px] flex h-11 w-8 flex-none items-center rounded-sm pl-1 xl:-mr-[22px] xl:w-11"
      >
        <ChevronDown
          aria-hidden="true"
          size={18}
          strokeWidth={1.75}
          className={cn("ease-soft transition-transform duration-200", open && "rotate-180")}
        />
      </button>
      <div
        id={panelId}
        hidden={!open}
        className="submenu-panel animate-fade-in absolute top-[calc(100%-6px)] -left-3 z-10 pt-3 [animation-duration:120ms]"
      >
        <ul className="bg-pop text-ink pop-shadow border-band w-[232px] rounded-sm border-b-6 py-2">
          {items.map((item) => (
            <li key={item.to}>
              <Link
                to={item.to}
                // Not the button: after a mouse click the space bar must scroll the page, not press the button.
                onClick={() => {
                  keepFocus(root.current, "a");
                  setOpenCause(null);
                }}
                className="hover:bg-indigo-tint focus-visible:bg-indigo-tint flex min-h-[46px] items-center px-5 leading-snug focus-visible:-outline-offset-3"
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
