import { useLayoutEffect, useRef, type ReactNode } from "react";

type FormFieldsProps = {
  /** Whether the form is being saved. */
  saving: boolean;
  className?: string;
  children: ReactNode;
};

/**
 * The fields of a form that closes after it is saved. The fields are inert while the form is being saved, because the save would not
 * contain what is typed meanwhile, and it would be lost with the form. After a failed save the focus returns to the field that had it.
 */
export function FormFields({ saving, className, children }: FormFieldsProps) {
  const root = useRef<HTMLDivElement>(null);
  const focused = useRef<HTMLElement>(null);

  useLayoutEffect(() => {
    const fields = root.current!;
    if (saving) {
      // An inert element loses the focus, so the focused one must be read before.
      const active = document.activeElement;
      focused.current = active instanceof HTMLElement && fields.contains(active) ? active : null;
    }
    fields.toggleAttribute("inert", saving);
    if (saving) return;
    // In a dialog that closes, the focus would open a phone's keyboard again.
    if (!fields.closest("[data-state=closed]")) focused.current?.focus();
    focused.current = null;
  }, [saving]);

  return (
    <div ref={root} className={className}>
      {children}
    </div>
  );
}
