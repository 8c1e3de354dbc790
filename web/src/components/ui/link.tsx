import type { ComponentProps } from "react";
import { useHref, useLinkClickHandler, type To } from "react-router";

export type LinkProps = Omit<ComponentProps<"a">, "href"> & {
  to: To;
  replace?: boolean;
  state?: unknown;
};

/**
 * A link inside the site. The router's own component brings 3 kB for prefetching and server modes that this
 * site does not use.
 */
export function Link({ to, replace, state, onClick, children, ...rest }: LinkProps) {
  const follow = useLinkClickHandler(to, { target: rest.target, replace, state });
  return (
    <a
      {...rest}
      href={useHref(to)}
      onClick={(event) => {
        onClick?.(event);
        if (!event.defaultPrevented) follow(event);
      }}
    >
      {children}
    </a>
  );
}
