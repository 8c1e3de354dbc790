package tables

import "net/http"

// This file handles requests that ask for the allowed methods (OPTIONS), and requests with a method that is not allowed.

// rootMethods and tableMethods are the values of the Allow header for /rest/v1/ and for a table.
const (
	rootMethods  = "OPTIONS,GET,HEAD"
	tableMethods = "OPTIONS,GET,HEAD,POST,PUT,PATCH,DELETE"
)

// Root handles /rest/v1/ itself. It responds to GET and HEAD with an error, as PostgREST does if its description of the tables is disabled.
func (s *Service) Root(w http.ResponseWriter, r *http.Request) error {
	switch r.Method {
	case http.MethodGet, http.MethodHead:
		return errRootDisabled
	case http.MethodOptions:
		return respondAllow(w, rootMethods)
	}
	w.Header().Set("Allow", rootMethods)
	return errMethod(r.Method)
}

// Options handles OPTIONS /rest/v1/{table}. It lists all methods, whether or not the policy allows them to the caller.
func (s *Service) Options(w http.ResponseWriter, r *http.Request) error {
	if _, err := s.table(w, r); err != nil { // there is no such table
		return err
	}
	return respondAllow(w, tableMethods)
}

// RPCOptions handles OPTIONS /rest/v1/rpc/{function}. It lists the methods of the function. GET is one of them only if the function writes
// nothing.
func (s *Service) RPCOptions(w http.ResponseWriter, r *http.Request) error {
	name := r.PathValue("function")
	if _, ok := functions[name]; !ok {
		return errUnknownFunction(name, nil)
	}
	return respondAllow(w, functionMethods(name))
}

// functionMethods returns the Allow header of a function. An unknown function counts as one that writes.
func functionMethods(name string) string {
	if functions[name].readOnly {
		return "OPTIONS,GET,HEAD,POST"
	}
	return "OPTIONS,POST"
}

// respondAllow sends an empty response with the Allow header.
func respondAllow(w http.ResponseWriter, methods string) error {
	w.Header().Set("Allow", methods)
	w.WriteHeader(http.StatusOK)
	return nil
}

// RejectMethod responds to methods that no table supports.
func (s *Service) RejectMethod(w http.ResponseWriter, r *http.Request) error {
	w.Header().Set("Allow", tableMethods)
	return errMethod(r.Method)
}

// RejectRPCMethod responds to methods that the function does not have.
func (s *Service) RejectRPCMethod(w http.ResponseWriter, r *http.Request) error {
	w.Header().Set("Allow", functionMethods(r.PathValue("function")))
	return errRPCMethod(r.Method)
}
