import { useEffect, useState } from "react";
import { useLocation, useNavigate } from "react-router";
import { scrollToSectionAfterNavigation } from "@/lib/scroll";
import type { Product } from "@/lib/types";
import type { Enquiry } from "@/features/contact/enquiry";

/** The state of the home page's history entry. `ask` is the enquiry that the visitor started on another page. */
type HistoryState = { ask?: Enquiry };

/**
 * Returns a function that starts an enquiry: it navigates from a work to the contact form, whose message then names the
 * work. The contact reason is "commission" for a customizable work, else "purchase".
 */
export function useStartEnquiry(): (product: Product) => void {
  const navigate = useNavigate();
  return (product) => {
    const ask: Enquiry = {
      title: product.title.trim(),
      reason: product.is_customizable ? "commission" : "purchase",
    };
    void navigate("/", { state: { ask } satisfies HistoryState });
    scrollToSectionAfterNavigation("contact");
  };
}

/**
 * The enquiry that the visitor has started. It is removed from the history entry, so that a reload does not repeat it.
 */
export function useEnquiry(): Enquiry | null {
  const location = useLocation();
  const navigate = useNavigate();
  const [enquiry, setEnquiry] = useState<Enquiry | null>(null);
  const ask = (location.state as HistoryState | null)?.ask;
  const { search } = location;

  useEffect(() => {
    if (!ask) return;
    setEnquiry(ask);
    void navigate({ pathname: "/", search }, { replace: true, state: null });
  }, [ask, search, navigate]);

  return enquiry;
}
