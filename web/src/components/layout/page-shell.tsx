import type { ReactNode } from "react";
import { Footer } from "@/components/layout/footer";
import { cn } from "@/lib/cn";

type PageShellProps = {
  /** The element at the foot of the page: the footer, a tall band of colour, or the thin band of admin pages. */
  foot?: "footer" | "band" | "thin";
  className?: string;
  children: ReactNode;
};

/**
 * The layout of every page. The content begins below the fixed header; only a hero (data-hero, the pictures at the top of the
 * home page) begins behind the header.
 */
export function PageShell({ foot = "footer", className, children }: PageShellProps) {
  return (
    <div className="flex min-h-svh flex-col">
      <main
        id="main"
        tabIndex={-1}
        className={cn("flex-1 pt-[65px] has-data-hero:pt-0 lg:pt-[77px]", className)}
      >
        {children}
      </main>
      {foot === "footer" && <Footer />}
      {foot === "band" && <div aria-hidden="true" className="band h-[17vh] flex-none" />}
      {foot === "thin" && <div aria-hidden="true" className="band h-[18px] flex-none" />}
    </div>
  );
}
