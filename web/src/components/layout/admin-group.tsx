import { useId, type ReactNode } from "react";

type AdminGroupProps = {
  title: string;
  /** A sentence below the heading. */
  intro?: string;
  children: ReactNode;
};

/** A section of an admin page with its heading. */
export function AdminGroup({ title, intro, children }: AdminGroupProps) {
  const id = useId();
  return (
    <section aria-labelledby={id} className="border-ink mt-12 border-t-2 pt-5 first:mt-0">
      <h2 id={id} className="text-[1.5rem] leading-tight font-[430]">
        {title}
      </h2>
      {intro && <p className="text-ink2 mt-1.5 max-w-[42em] text-sm">{intro}</p>}
      <div className="mt-6 grid gap-6">{children}</div>
    </section>
  );
}
