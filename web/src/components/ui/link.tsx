import type { ComponentProps } from "react";
import { useHref, useLinkClickHandler, type To } from "react-router";
import { useAddress } from "@/lib/i18n";

export type LinkProps = Omit<ComponentProps<"a">, "href"> & {
  to: To;
  replace?: boolean;
  state?: unknown;
};

/**
 * A link inside the site. The router's own component brings 3 kB for prefetching and server modes that this
 * site does not use. Its address names the language, for new tabs and for browsers without scripts; a click needs no
 * such word, because the page goes on in the language that it has.
 */
export function Link({ to, replace, state, onClick, children, ...rest }: LinkProps) {
  const follow = useLinkClickHandler(to, { target: rest.target, replace, state });
  return (
    <a
      {...rest}
      href={useAddress(useHref(to))}
      onClick={(event) => {
        onClick?.(event);
        if (!event.defaultPrevented) follow(event);
      }}
    >
      {children}
    </a>
  );
}
