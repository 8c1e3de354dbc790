import type { ComponentProps } from "react";
import { useHref, useLinkClickHandler, type To } from "react-router";
import { useLocalizedUrl } from "@/lib/i18n";

/** The props of Link: the attributes of an `a` element, with the path `to` instead of `href`. */
export type LinkProps = Omit<ComponentProps<"a">, "href"> & {
  to: To;
  /** Whether the page replaces the current history entry. */
  replace?: boolean;
  /** The state of the new history entry. */
  state?: unknown;
};

/**
 * A link inside the site. The href contains the language, for new tabs and for browsers without scripts. A click navigates to `to`,
 * which does not contain the language, because the page keeps its language. The router's own Link is not used: it would add 3 kB of
 * code that this site does not need.
 */
export function Link({ to, replace, state, onClick, children, ...rest }: LinkProps) {
  const follow = useLinkClickHandler(to, { target: rest.target, replace, state });
  return (
    <a
      {...rest}
      href={useLocalizedUrl(useHref(to))}
      onClick={(event) => {
        onClick?.(event);
        if (!event.defaultPrevented) follow(event);
      }}
    >
      {children}
    </a>
  );
}
