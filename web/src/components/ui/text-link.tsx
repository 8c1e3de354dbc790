import { Link, type LinkProps } from "@/components/ui/link";
import { cn } from "@/lib/cn";

/** An underlined link to a page of the site, in running text. */
export function TextLink({ className, ...rest }: LinkProps) {
  return <Link {...rest} className={cn("text-link font-[520]", className)} />;
}
