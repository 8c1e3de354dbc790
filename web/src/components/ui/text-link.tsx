import { Link, type LinkProps } from "@/components/ui/link";
import { cn } from "@/lib/cn";

/** An underlined link in running interface text; `to` stays inside the site. */
export function TextLink({ className, ...rest }: LinkProps) {
  return <Link {...rest} className={cn("text-link font-[520]", className)} />;
}
