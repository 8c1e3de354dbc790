import type { ComponentProps } from "react";
import { Link } from "react-router";
import { cn } from "@/lib/cn";

/** An underlined link in running interface text; `to` stays inside the site. */
export function TextLink({ className, ...rest }: ComponentProps<typeof Link>) {
  return <Link {...rest} className={cn("text-link font-[520]", className)} />;
}
