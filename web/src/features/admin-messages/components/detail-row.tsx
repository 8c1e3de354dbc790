import type { ReactNode } from "react";

/** A row in the details of an opened message: the name of a detail (`term`), such as "Email", and its value. */
export function DetailRow({ term, children }: { term: string; children: ReactNode }) {
  return (
    <div className="grid min-h-[35px] grid-cols-[7.5rem_minmax(0,1fr)] items-center gap-x-5 text-sm">
      <dt className="text-ink2">{term}</dt>
      <dd className="min-w-0">{children}</dd>
    </div>
  );
}
