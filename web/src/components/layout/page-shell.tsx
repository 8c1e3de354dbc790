import type { ReactNode } from "react";
import { Footer } from "@/components/layout/footer";
import { cn } from "@/lib/cn";

type PageShellProps = {
  /** What closes the page at the base: the footer, a tall band, or the thin one of the admin pages. */
  base?: "footer" | "band" | "thin";
  className?: string;
  children: ReactNode;
};

/**
 * One page below the fixed bar. The content starts under the bar, except with a hero (data-hero), which
 * reaches to the top of the screen.
 */
export function PageShell({ base = "footer", className, children }: PageShellProps) {
  return (
    <div className="flex min-h-svh flex-col">
      <main
        id="main"
        tabIndex={-1}
        className={cn("flex-1 pt-[65px] has-data-hero:pt-0 lg:pt-[77px]", className)}
      >
        {children}
      </main>
      {base === "footer" && <Footer />}
      {base === "band" && <div aria-hidden="true" className="barra h-[17vh] flex-none" />}
      {base === "thin" && <div aria-hidden="true" className="barra h-[18px] flex-none" />}
    </div>
  );
}
