import type { ReactNode } from "react";
import { usePageTitle } from "@/lib/use-page-title";

type AdminPageProps = {
  title: string;
  /** The page's main button; as wide as the screen on phones. */
  action?: ReactNode;
  children: ReactNode;
};

/** Heading, main action and content of one admin page; lives here because features never import each other. */
export function AdminPage({ title, action, children }: AdminPageProps) {
  usePageTitle(title);
  return (
    <div className="wrap pt-8 pb-20 md:pt-12">
      <div className="flex flex-col gap-4 md:flex-row md:items-center md:justify-between">
        <h1 className="text-admin">{title}</h1>
        {action && <div className="flex flex-none flex-col gap-3 md:flex-row">{action}</div>}
      </div>
      <div className="mt-5 md:mt-[34px]">{children}</div>
    </div>
  );
}
