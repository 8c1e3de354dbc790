import type { ReactNode } from "react";
import { useSearchParams } from "react-router";
import { buttonClasses } from "@/components/ui/button-classes";
import { Link } from "@/components/ui/link";

type BoxLinkProps = {
  /** The part of the messages page to open, as ?box= names it. Without it the link opens the inbox. */
  box?: "quarantine" | "data" | "replies";
  children: ReactNode;
};

/** A link between the parts of the messages page. It keeps the language of the URL. */
export function BoxLink({ box, children }: BoxLinkProps) {
  const [search] = useSearchParams();
  const params = new URLSearchParams(box && { box });
  const language = search.get("lang");
  if (language) params.set("lang", language);
  return (
    <Link
      to={{ search: params.toString() }}
      className={buttonClasses({ variant: "outline", size: "sm", className: "self-start" })}
    >
      {children}
    </Link>
  );
}
