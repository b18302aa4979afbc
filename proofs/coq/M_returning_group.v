(* returning_group: a group whose members come back with their own data.
   Written by paraply from the model of that name. *)

Require Import Foundation.

Section Model.

Variable Member : Type.
Variable some_Member : Member.
Variable eqb_Member : Member -> Member -> bool.
Hypothesis eqb_Member_true : forall x y, eqb_Member x y = true <-> x = y.

Variable Row : Type.
Variable some_Row : Row.
Variable eqb_Row : Row -> Row -> bool.
Hypothesis eqb_Row_true : forall x y, eqb_Row x y = true <-> x = y.

Variable Txn : Type.
Variable some_Txn : Txn.
Variable eqb_Txn : Txn -> Txn -> bool.
Hypothesis eqb_Txn_true : forall x y, eqb_Txn x y = true <-> x = y.

(* What no step changes. *)
Variable ws : Txn -> Row -> bool.
Variable empty : Txn -> bool.
(* a transaction without write set names no row *)
Hypothesis axiom_empty_writes_nothing : (forall t : Txn, (forall r : Row, ((negb (empty t)) || (negb (ws t r))) = true)).

Record state : Type := {
  n : Z;
  in_group : Member -> bool;
  upto : Member -> Z -> bool;
  value_ : Member -> Row -> Z;
  begun : Txn -> bool;
  live : Txn -> bool;
  home : Txn -> Member;
  saw : Txn -> Row -> Z;
  sent : Txn -> bool;
  snap : Txn -> Z -> bool;
  number : Txn -> Z;
  delivered : Txn -> bool;
  certified : Txn -> bool;
  place : Txn -> Z;
  txn_at : Z -> Txn;
  has : Row -> bool;
  out : Member -> Z;
  arrived : Member -> Z;
  reports : Member -> bool;
  report_number : Member -> Z;
  report_value : Member -> Z -> bool;
  reported : Member -> Z -> bool;
  stable : Z -> bool;
  version : Z -> Row -> Z;
  received : Member -> Z;
  first : Member -> Z;
  next_sn : Member -> Z;
  lc_global : Member -> Z;
  known : Member -> Row -> bool;
  item_sn : Member -> Row -> Z;
  sn : Member -> Z -> Z;
  lc : Member -> Z -> Z;
  started : Member -> Z -> bool;
  row_lock : Member -> Row -> Z;
  purged : Row -> bool;
  running : Member -> Z -> bool;
  connected : Member -> bool;
  feeds : Member -> Member;
  named : Z -> bool;
  told_ : Member -> Z -> bool;
  passed : Member -> Z -> bool;
  length : Member -> Z;
  gtid_at : Member -> Z -> Z;
  cursor : Member -> Z;
  entry_of : Member -> Z -> Z;
  times : Member -> Z -> Z
}.

Definition init_empty (st : state) : Prop :=
  (((Z.eqb (n st) 0) = true) /\ ((forall p : Z, (negb (stable st p)) = true))).

Definition init_nothing_begun (st : state) : Prop :=
  (forall t : Txn, ((negb (begun st t)) && ((negb (live st t)) && ((negb (sent st t)) && ((negb (delivered st t)) && (negb (certified st t)))))) = true).

Definition init_nothing_applied (st : state) : Prop :=
  (forall m : Member, (((forall p : Z, (negb (upto st m p)) = true)) /\ (((forall p : Z, (negb (reported st m p)) = true)) /\ (((negb (reports st m)) = true) /\ (((Z.eqb (out st m) 0) = true) /\ ((Z.eqb (arrived st m) 0) = true)))))).

Definition init_nothing_written (st : state) : Prop :=
  (forall r : Row, ((Z.eqb (version st 0 r) (-1)) && (negb (has st r))) = true).

Definition init_nothing_stored (st : state) : Prop :=
  (forall m : Member, (forall r : Row, (Z.eqb (value_ st m r) (-1)) = true)).

Definition init_nothing_received (st : state) : Prop :=
  (forall m : Member, ((Z.eqb (received st m) 0) && (((first st m) <=? 0) && ((Z.eqb (next_sn st m) 2) && (Z.eqb (lc_global st m) 1)))) = true).

Definition init_nothing_known_or_locked (st : state) : Prop :=
  (forall m : Member, (forall r : Row, ((negb (known st m r)) && (Z.eqb (row_lock st m r) (-1))) = true)).

Definition init_nothing_started (st : state) : Prop :=
  (forall m : Member, (forall p : Z, (negb (started st m p)) = true)).

Definition init_nothing_recovered (st : state) : Prop :=
  (forall m : Member, ((negb (connected st m)) && ((Z.eqb (length st m) 0) && (Z.eqb (cursor st m) 0))) = true).

Definition init_nothing_counted (st : state) : Prop :=
  (forall m : Member, (forall p : Z, ((negb (running st m p)) && (Z.eqb (times st m p) 0)) = true)).

Definition init (st : state) : Prop :=
  init_empty st /\ init_nothing_begun st /\ init_nothing_applied st /\ init_nothing_written st /\ init_nothing_stored st /\ init_nothing_received st /\ init_nothing_known_or_locked st /\ init_nothing_started st /\ init_nothing_recovered st /\ init_nothing_counted st.

(* a session reads and changes its rows, and holds their locks *)
Definition guard_execute (st : state) (t : Txn) (m : Member) : Prop :=
  (((negb (begun st t)) = true) /\ (((in_group st m) = true) /\ (((forall u : Txn, (forall r : Row, (negb ((live st u) && ((eqb_Member (home st u) m) && ((ws u r) && (ws t r))))) = true))) /\ ((forall r : Row, ((negb (ws t r)) || (Z.eqb (row_lock st m r) (-1))) = true))))).
Definition act_execute (st : state) (t : Txn) (m : Member) : state :=
  {|
     n := n st;
     in_group := in_group st;
     upto := upto st;
     value_ := value_ st;
     begun := fun (x0 : Txn) => ((begun st x0) || (eqb_Txn x0 t));
     live := fun (x0 : Txn) => ((live st x0) || (eqb_Txn x0 t));
     home := fun (x0 : Txn) => (if (eqb_Txn x0 t) then m else (home st x0));
     saw := fun (x0 : Txn) (x1 : Row) => (if (eqb_Txn x0 t) then (value_ st m x1) else (saw st x0 x1));
     sent := sent st;
     snap := fun (x0 : Txn) (x1 : Z) => (if (eqb_Txn x0 t) then (upto st m x1) else (snap st x0 x1));
     number := number st;
     delivered := delivered st;
     certified := certified st;
     place := place st;
     txn_at := txn_at st;
     has := has st;
     out := out st;
     arrived := arrived st;
     reports := reports st;
     report_number := report_number st;
     report_value := report_value st;
     reported := reported st;
     stable := stable st;
     version := version st;
     received := received st;
     first := first st;
     next_sn := next_sn st;
     lc_global := lc_global st;
     known := known st;
     item_sn := item_sn st;
     sn := sn st;
     lc := lc st;
     started := started st;
     row_lock := row_lock st;
     purged := purged st;
     running := running st;
     connected := connected st;
     feeds := feeds st;
     named := named st;
     told_ := told_ st;
     passed := passed st;
     length := length st;
     gtid_at := gtid_at st;
     cursor := cursor st;
     entry_of := entry_of st;
     times := times st
  |}.

(* its snapshot is of what its member has applied by now *)
Definition guard_take_snapshot (st : state) (t : Txn) : Prop :=
  ((live st t) && (negb (sent st t))) = true.
Definition act_take_snapshot (st : state) (t : Txn) : state :=
  {|
     n := n st;
     in_group := in_group st;
     upto := upto st;
     value_ := value_ st;
     begun := begun st;
     live := live st;
     home := home st;
     saw := saw st;
     sent := sent st;
     snap := fun (x0 : Txn) (x1 : Z) => (if (eqb_Txn x0 t) then (upto st (home st t) x1) else (snap st x0 x1));
     number := number st;
     delivered := delivered st;
     certified := certified st;
     place := place st;
     txn_at := txn_at st;
     has := has st;
     out := out st;
     arrived := arrived st;
     reports := reports st;
     report_number := report_number st;
     report_value := report_value st;
     reported := reported st;
     stable := stable st;
     version := version st;
     received := received st;
     first := first st;
     next_sn := next_sn st;
     lc_global := lc_global st;
     known := known st;
     item_sn := item_sn st;
     sn := sn st;
     lc := lc st;
     started := started st;
     row_lock := row_lock st;
     purged := purged st;
     running := running st;
     connected := connected st;
     feeds := feeds st;
     named := named st;
     told_ := told_ st;
     passed := passed st;
     length := length st;
     gtid_at := gtid_at st;
     cursor := cursor st;
     entry_of := entry_of st;
     times := times st
  |}.

(* it commits: write set and snapshot go to the group *)
Definition guard_send (st : state) (t : Txn) : Prop :=
  ((live st t) && (negb (sent st t))) = true.
Definition act_send (st : state) (t : Txn) : state :=
  {|
     n := n st;
     in_group := in_group st;
     upto := upto st;
     value_ := value_ st;
     begun := begun st;
     live := live st;
     home := home st;
     saw := saw st;
     sent := fun (x0 : Txn) => ((sent st x0) || (eqb_Txn x0 t));
     snap := snap st;
     number := fun (x0 : Txn) => (if (eqb_Txn x0 t) then (out st (home st t)) else (number st x0));
     delivered := delivered st;
     certified := certified st;
     place := place st;
     txn_at := txn_at st;
     has := has st;
     out := fun (x0 : Member) => (if (eqb_Member x0 (home st t)) then ((out st x0) + 1) else (out st x0));
     arrived := arrived st;
     reports := reports st;
     report_number := report_number st;
     report_value := report_value st;
     reported := reported st;
     stable := stable st;
     version := version st;
     received := received st;
     first := first st;
     next_sn := next_sn st;
     lc_global := lc_global st;
     known := known st;
     item_sn := item_sn st;
     sn := sn st;
     lc := lc st;
     started := started st;
     row_lock := row_lock st;
     purged := purged st;
     running := running st;
     connected := connected st;
     feeds := feeds st;
     named := named st;
     told_ := told_ st;
     passed := passed st;
     length := length st;
     gtid_at := gtid_at st;
     cursor := cursor st;
     entry_of := entry_of st;
     times := times st
  |}.

(* the client, or a worker that wants one of its rows, ends the session *)
Definition guard_roll_back (st : state) (t : Txn) : Prop :=
  ((live st t) && (negb (delivered st t))) = true.
Definition act_roll_back (st : state) (t : Txn) : state :=
  {|
     n := n st;
     in_group := in_group st;
     upto := upto st;
     value_ := value_ st;
     begun := begun st;
     live := fun (x0 : Txn) => ((live st x0) && (negb (eqb_Txn x0 t)));
     home := home st;
     saw := saw st;
     sent := sent st;
     snap := snap st;
     number := number st;
     delivered := delivered st;
     certified := certified st;
     place := place st;
     txn_at := txn_at st;
     has := has st;
     out := out st;
     arrived := arrived st;
     reports := reports st;
     report_number := report_number st;
     report_value := report_value st;
     reported := reported st;
     stable := stable st;
     version := version st;
     received := received st;
     first := first st;
     next_sn := next_sn st;
     lc_global := lc_global st;
     known := known st;
     item_sn := item_sn st;
     sn := sn st;
     lc := lc st;
     started := started st;
     row_lock := row_lock st;
     purged := purged st;
     running := running st;
     connected := connected st;
     feeds := feeds st;
     named := named st;
     told_ := told_ st;
     passed := passed st;
     length := length st;
     gtid_at := gtid_at st;
     cursor := cursor st;
     entry_of := entry_of st;
     times := times st
  |}.

(* delivered; no item of its rows is newer than its snapshot *)
Definition guard_certify (st : state) (t : Txn) : Prop :=
  (((sent st t) = true) /\ (((negb (delivered st t)) = true) /\ ((((arrived st (home st t)) <=? (number st t)) = true) /\ (((in_group st (home st t)) = true) /\ (((Z.eqb (arrived st (home st t)) (number st t)) = true) /\ ((forall r : Row, (negb ((ws t r) && ((has st r) && (negb (((version st (n st) r) <? 0) || (snap st t (version st (n st) r))))))) = true))))))).
Definition act_certify (st : state) (t : Txn) : state :=
  {|
     n := ((n st) + 1);
     in_group := in_group st;
     upto := upto st;
     value_ := value_ st;
     begun := begun st;
     live := live st;
     home := home st;
     saw := saw st;
     sent := sent st;
     snap := snap st;
     number := number st;
     delivered := fun (x0 : Txn) => ((delivered st x0) || (eqb_Txn x0 t));
     certified := fun (x0 : Txn) => ((certified st x0) || (eqb_Txn x0 t));
     place := fun (x0 : Txn) => (if (eqb_Txn x0 t) then (n st) else (place st x0));
     txn_at := fun (x0 : Z) => (if (Z.eqb x0 (n st)) then t else (txn_at st x0));
     has := fun (x0 : Row) => ((has st x0) || (ws t x0));
     out := out st;
     arrived := fun (x0 : Member) => (if (eqb_Member x0 (home st t)) then ((arrived st x0) + 1) else (arrived st x0));
     reports := reports st;
     report_number := report_number st;
     report_value := report_value st;
     reported := reported st;
     stable := stable st;
     version := fun (x0 : Z) (x1 : Row) => (if (Z.eqb x0 ((n st) + 1)) then (if (ws t x1) then (n st) else (version st (n st) x1)) else (version st x0 x1));
     received := received st;
     first := first st;
     next_sn := next_sn st;
     lc_global := lc_global st;
     known := known st;
     item_sn := item_sn st;
     sn := sn st;
     lc := lc st;
     started := started st;
     row_lock := row_lock st;
     purged := purged st;
     running := running st;
     connected := connected st;
     feeds := feeds st;
     named := named st;
     told_ := told_ st;
     passed := passed st;
     length := length st;
     gtid_at := gtid_at st;
     cursor := cursor st;
     entry_of := entry_of st;
     times := times st
  |}.

(* delivered; a row has an item, and the session rolls back *)
Definition guard_refuse (st : state) (t : Txn) (r : Row) : Prop :=
  ((sent st t) && ((negb (delivered st t)) && (((arrived st (home st t)) <=? (number st t)) && ((in_group st (home st t)) && ((Z.eqb (arrived st (home st t)) (number st t)) && ((ws t r) && (has st r))))))) = true.
Definition act_refuse (st : state) (t : Txn) (r : Row) : state :=
  {|
     n := ((n st) + 1);
     in_group := in_group st;
     upto := upto st;
     value_ := value_ st;
     begun := begun st;
     live := fun (x0 : Txn) => ((live st x0) && (negb (eqb_Txn x0 t)));
     home := home st;
     saw := saw st;
     sent := sent st;
     snap := snap st;
     number := number st;
     delivered := fun (x0 : Txn) => ((delivered st x0) || (eqb_Txn x0 t));
     certified := certified st;
     place := fun (x0 : Txn) => (if (eqb_Txn x0 t) then (n st) else (place st x0));
     txn_at := fun (x0 : Z) => (if (Z.eqb x0 (n st)) then t else (txn_at st x0));
     has := has st;
     out := out st;
     arrived := fun (x0 : Member) => (if (eqb_Member x0 (home st t)) then ((arrived st x0) + 1) else (arrived st x0));
     reports := reports st;
     report_number := report_number st;
     report_value := report_value st;
     reported := reported st;
     stable := stable st;
     version := fun (x0 : Z) (x1 : Row) => (if (Z.eqb x0 ((n st) + 1)) then (version st (n st) x1) else (version st x0 x1));
     received := received st;
     first := first st;
     next_sn := next_sn st;
     lc_global := lc_global st;
     known := known st;
     item_sn := item_sn st;
     sn := sn st;
     lc := lc st;
     started := started st;
     row_lock := row_lock st;
     purged := purged st;
     running := running st;
     connected := connected st;
     feeds := feeds st;
     named := named st;
     told_ := told_ st;
     passed := passed st;
     length := length st;
     gtid_at := gtid_at st;
     cursor := cursor st;
     entry_of := entry_of st;
     times := times st
  |}.

(* a member sends what it has applied *)
Definition guard_report (st : state) (m : Member) : Prop :=
  ((in_group st m) && (negb (reports st m))) = true.
Definition act_report (st : state) (m : Member) : state :=
  {|
     n := n st;
     in_group := in_group st;
     upto := upto st;
     value_ := value_ st;
     begun := begun st;
     live := live st;
     home := home st;
     saw := saw st;
     sent := sent st;
     snap := snap st;
     number := number st;
     delivered := delivered st;
     certified := certified st;
     place := place st;
     txn_at := txn_at st;
     has := has st;
     out := fun (x0 : Member) => (if (eqb_Member x0 m) then ((out st x0) + 1) else (out st x0));
     arrived := arrived st;
     reports := fun (x0 : Member) => ((reports st x0) || (eqb_Member x0 m));
     report_number := fun (x0 : Member) => (if (eqb_Member x0 m) then (out st m) else (report_number st x0));
     report_value := fun (x0 : Member) (x1 : Z) => (if (eqb_Member x0 m) then (upto st m x1) else (report_value st x0 x1));
     reported := reported st;
     stable := stable st;
     version := version st;
     received := received st;
     first := first st;
     next_sn := next_sn st;
     lc_global := lc_global st;
     known := known st;
     item_sn := item_sn st;
     sn := sn st;
     lc := lc st;
     started := started st;
     row_lock := row_lock st;
     purged := purged st;
     running := running st;
     connected := connected st;
     feeds := feeds st;
     named := named st;
     told_ := told_ st;
     passed := passed st;
     length := length st;
     gtid_at := gtid_at st;
     cursor := cursor st;
     entry_of := entry_of st;
     times := times st
  |}.

(* the report is delivered in its place of the order *)
Definition guard_receive_report (st : state) (m : Member) : Prop :=
  ((reports st m) && ((in_group st m) && (Z.eqb (arrived st m) (report_number st m)))) = true.
Definition act_receive_report (st : state) (m : Member) : state :=
  {|
     n := n st;
     in_group := in_group st;
     upto := upto st;
     value_ := value_ st;
     begun := begun st;
     live := live st;
     home := home st;
     saw := saw st;
     sent := sent st;
     snap := snap st;
     number := number st;
     delivered := delivered st;
     certified := certified st;
     place := place st;
     txn_at := txn_at st;
     has := has st;
     out := out st;
     arrived := fun (x0 : Member) => (if ((eqb_Member x0 m) && (Z.eqb (arrived st m) (report_number st m))) then ((arrived st x0) + 1) else (arrived st x0));
     reports := fun (x0 : Member) => ((reports st x0) && (negb (eqb_Member x0 m)));
     report_number := report_number st;
     report_value := report_value st;
     reported := fun (x0 : Member) (x1 : Z) => (if (eqb_Member x0 m) then (report_value st x0 x1) else (reported st x0 x1));
     stable := stable st;
     version := version st;
     received := received st;
     first := first st;
     next_sn := next_sn st;
     lc_global := lc_global st;
     known := known st;
     item_sn := item_sn st;
     sn := sn st;
     lc := lc st;
     started := started st;
     row_lock := row_lock st;
     purged := purged st;
     running := running st;
     connected := connected st;
     feeds := feeds st;
     named := named st;
     told_ := told_ st;
     passed := passed st;
     length := length st;
     gtid_at := gtid_at st;
     cursor := cursor st;
     entry_of := entry_of st;
     times := times st
  |}.

(* what all members have reported is stable *)
Definition guard_settle (st : state) (q : Z) : Prop :=
  (((0 <=? q) = true) /\ (((q <? (n st)) = true) /\ ((forall m : Member, ((negb (in_group st m)) || (reported st m q)) = true)))).
Definition act_settle (st : state) (q : Z) : state :=
  {|
     n := n st;
     in_group := in_group st;
     upto := upto st;
     value_ := value_ st;
     begun := begun st;
     live := live st;
     home := home st;
     saw := saw st;
     sent := sent st;
     snap := snap st;
     number := number st;
     delivered := delivered st;
     certified := certified st;
     place := place st;
     txn_at := txn_at st;
     has := has st;
     out := out st;
     arrived := arrived st;
     reports := reports st;
     report_number := report_number st;
     report_value := report_value st;
     reported := reported st;
     stable := fun (x0 : Z) => ((stable st x0) || (Z.eqb x0 q));
     version := version st;
     received := received st;
     first := first st;
     next_sn := next_sn st;
     lc_global := lc_global st;
     known := known st;
     item_sn := item_sn st;
     sn := sn st;
     lc := lc st;
     started := started st;
     row_lock := row_lock st;
     purged := purged st;
     running := running st;
     connected := connected st;
     feeds := feeds st;
     named := named st;
     told_ := told_ st;
     passed := passed st;
     length := length st;
     gtid_at := gtid_at st;
     cursor := cursor st;
     entry_of := entry_of st;
     times := times st
  |}.

(* an item whose version is stable is purged *)
Definition guard_collect (st : state) (r : Row) : Prop :=
  (((version st (n st) r) <? 0) || (stable st (version st (n st) r))) = true.
Definition act_collect (st : state) (r : Row) : state :=
  {|
     n := n st;
     in_group := in_group st;
     upto := upto st;
     value_ := value_ st;
     begun := begun st;
     live := live st;
     home := home st;
     saw := saw st;
     sent := sent st;
     snap := snap st;
     number := number st;
     delivered := delivered st;
     certified := certified st;
     place := place st;
     txn_at := txn_at st;
     has := fun (x0 : Row) => ((has st x0) && (negb (eqb_Row x0 r)));
     out := out st;
     arrived := arrived st;
     reports := reports st;
     report_number := report_number st;
     report_value := report_value st;
     reported := reported st;
     stable := stable st;
     version := version st;
     received := received st;
     first := first st;
     next_sn := next_sn st;
     lc_global := lc_global st;
     known := known st;
     item_sn := item_sn st;
     sn := sn st;
     lc := lc st;
     started := started st;
     row_lock := row_lock st;
     purged := purged st;
     running := running st;
     connected := connected st;
     feeds := feeds st;
     named := named st;
     told_ := told_ st;
     passed := passed st;
     length := length st;
     gtid_at := gtid_at st;
     cursor := cursor st;
     entry_of := entry_of st;
     times := times st
  |}.

(* a position commits in the engine, and its session, if any, ends *)
Definition guard_apply (st : state) (m : Member) (q : Z) : Prop :=
  (((in_group st m) = true) /\ (((0 <=? q) = true) /\ (((negb (upto st m q)) = true) /\ (((q <? (n st)) = true) /\ (((q <? (received st m)) = true) /\ ((((negb ((certified st (txn_at st q)) && (negb ((live st (txn_at st q)) && (eqb_Member (home st (txn_at st q)) m))))) = false -> ((((started st m q) = true) /\ ((forall r : Row, ((negb ((certified st (txn_at st q)) && (ws (txn_at st q) r))) || (Z.eqb (row_lock st m r) q)) = true)))))) /\ (((negb ((certified st (txn_at st q)) && (negb ((live st (txn_at st q)) && (eqb_Member (home st (txn_at st q)) m))))) || (running st m q)) = true))))))).
Definition act_apply (st : state) (m : Member) (q : Z) : state :=
  {|
     n := n st;
     in_group := in_group st;
     upto := fun (x0 : Member) (x1 : Z) => ((upto st x0 x1) || ((eqb_Member x0 m) && (Z.eqb x1 q)));
     value_ := fun (x0 : Member) (x1 : Row) => (if ((eqb_Member x0 m) && ((certified st (txn_at st q)) && (ws (txn_at st q) x1))) then q else (value_ st x0 x1));
     begun := begun st;
     live := fun (x0 : Txn) => ((live st x0) && (negb ((eqb_Txn x0 (txn_at st q)) && (eqb_Member (home st x0) m))));
     home := home st;
     saw := saw st;
     sent := sent st;
     snap := snap st;
     number := number st;
     delivered := delivered st;
     certified := certified st;
     place := place st;
     txn_at := txn_at st;
     has := has st;
     out := out st;
     arrived := arrived st;
     reports := reports st;
     report_number := report_number st;
     report_value := report_value st;
     reported := reported st;
     stable := stable st;
     version := version st;
     received := received st;
     first := first st;
     next_sn := next_sn st;
     lc_global := lc_global st;
     known := known st;
     item_sn := item_sn st;
     sn := sn st;
     lc := lc st;
     started := started st;
     row_lock := fun (x0 : Member) (x1 : Row) => (if ((eqb_Member x0 m) && (Z.eqb (row_lock st x0 x1) q)) then (-1) else (row_lock st x0 x1));
     purged := purged st;
     running := fun (x0 : Member) (x1 : Z) => ((running st x0 x1) && (negb ((eqb_Member x0 m) && (Z.eqb x1 q))));
     connected := connected st;
     feeds := feeds st;
     named := named st;
     told_ := told_ st;
     passed := passed st;
     length := length st;
     gtid_at := gtid_at st;
     cursor := cursor st;
     entry_of := entry_of st;
     times := fun (x0 : Member) (x1 : Z) => (if ((eqb_Member x0 m) && (Z.eqb x1 q)) then ((times st x0 x1) + 1) else (times st x0 x1))
  |}.

(* a member crashes or is expelled, and a view change says so *)
Definition guard_crash (st : state) (m : Member) : Prop :=
  (in_group st m) = true.
Definition act_crash (st : state) (m : Member) : state :=
  {|
     n := n st;
     in_group := fun (x0 : Member) => ((in_group st x0) && (negb (eqb_Member x0 m)));
     upto := upto st;
     value_ := value_ st;
     begun := begun st;
     live := fun (x0 : Txn) => ((live st x0) && (negb (eqb_Member (home st x0) m)));
     home := home st;
     saw := saw st;
     sent := sent st;
     snap := snap st;
     number := number st;
     delivered := delivered st;
     certified := certified st;
     place := place st;
     txn_at := txn_at st;
     has := has st;
     out := out st;
     arrived := arrived st;
     reports := fun (x0 : Member) => ((reports st x0) && (negb (eqb_Member x0 m)));
     report_number := report_number st;
     report_value := report_value st;
     reported := reported st;
     stable := stable st;
     version := version st;
     received := received st;
     first := first st;
     next_sn := next_sn st;
     lc_global := lc_global st;
     known := known st;
     item_sn := item_sn st;
     sn := sn st;
     lc := lc st;
     started := started st;
     row_lock := row_lock st;
     purged := purged st;
     running := fun (x0 : Member) (x1 : Z) => ((running st x0 x1) && (negb (eqb_Member x0 m)));
     connected := fun (x0 : Member) => ((connected st x0) && ((negb (eqb_Member x0 m)) && (negb (eqb_Member (feeds st x0) m))));
     feeds := feeds st;
     named := named st;
     told_ := told_ st;
     passed := passed st;
     length := length st;
     gtid_at := gtid_at st;
     cursor := cursor st;
     entry_of := entry_of st;
     times := times st
  |}.

(* a member comes, or comes back, with its donor's state, and a view change says so *)
Definition guard_join (st : state) (m : Member) (donor : Member) : Prop :=
  (((negb (in_group st m)) = true) /\ (((in_group st donor) = true) /\ (((connected st m) = true) /\ (((eqb_Member (feeds st m) donor) = true) /\ (((forall p : Z, ((negb (upto st donor p)) || (passed st m p)) = true)) /\ (((length st m) <=? (cursor st m)) = true)))))).
Definition act_join (st : state) (m : Member) (donor : Member) : state :=
  {|
     n := n st;
     in_group := fun (x0 : Member) => ((in_group st x0) || (eqb_Member x0 m));
     upto := upto st;
     value_ := value_ st;
     begun := begun st;
     live := live st;
     home := home st;
     saw := saw st;
     sent := sent st;
     snap := snap st;
     number := number st;
     delivered := delivered st;
     certified := certified st;
     place := place st;
     txn_at := txn_at st;
     has := has st;
     out := out st;
     arrived := fun (x0 : Member) => (if (eqb_Member x0 m) then (out st m) else (arrived st x0));
     reports := reports st;
     report_number := report_number st;
     report_value := report_value st;
     reported := fun (x0 : Member) (x1 : Z) => (if (eqb_Member x0 m) then (reported st donor x1) else (reported st x0 x1));
     stable := stable st;
     version := version st;
     received := fun (x0 : Member) => (if (eqb_Member x0 m) then (n st) else (received st x0));
     first := fun (x0 : Member) => (if (eqb_Member x0 m) then (n st) else (first st x0));
     next_sn := fun (x0 : Member) => (if (eqb_Member x0 m) then 2 else (next_sn st x0));
     lc_global := fun (x0 : Member) => (if (eqb_Member x0 m) then 1 else (lc_global st x0));
     known := fun (x0 : Member) (x1 : Row) => (if (eqb_Member x0 m) then (has st x1) else (known st x0 x1));
     item_sn := fun (x0 : Member) (x1 : Row) => (if (eqb_Member x0 m) then 0 else (item_sn st x0 x1));
     sn := sn st;
     lc := lc st;
     started := fun (x0 : Member) (x1 : Z) => ((started st x0 x1) && (negb (eqb_Member x0 m)));
     row_lock := fun (x0 : Member) (x1 : Row) => (if (eqb_Member x0 m) then (-1) else (row_lock st x0 x1));
     purged := purged st;
     running := running st;
     connected := fun (x0 : Member) => ((connected st x0) && (negb (eqb_Member x0 m)));
     feeds := feeds st;
     named := named st;
     told_ := told_ st;
     passed := passed st;
     length := length st;
     gtid_at := gtid_at st;
     cursor := cursor st;
     entry_of := entry_of st;
     times := times st
  |}.

(* a remote transaction is numbered: the first (0, 0), others with an LC of at least the window and their rows' items *)
Definition guard_receive (st : state) (m : Member) (new_lc : Z) : Prop :=
  (((in_group st m) = true) /\ ((((received st m) <? (n st)) = true) /\ (((certified st (txn_at st (received st m))) = true) /\ (((negb ((live st (txn_at st (received st m))) && (eqb_Member (home st (txn_at st (received st m))) m))) = true) /\ ((if (Z.eqb (received st m) (first st m)) then ((Z.eqb new_lc 0) = true) else ((if (empty (txn_at st (received st m))) then ((Z.eqb new_lc ((next_sn st m) + (-1))) = true) else (((((lc_global st m) <=? new_lc) = true) /\ (((new_lc <? (next_sn st m)) = true) /\ ((forall r : Row, ((negb ((certified st (txn_at st (received st m))) && ((ws (txn_at st (received st m)) r) && (known st m r)))) || ((item_sn st m r) <=? new_lc)) = true))))))))))))).
Definition act_receive (st : state) (m : Member) (new_lc : Z) : state :=
  {|
     n := n st;
     in_group := in_group st;
     upto := upto st;
     value_ := value_ st;
     begun := begun st;
     live := live st;
     home := home st;
     saw := saw st;
     sent := sent st;
     snap := snap st;
     number := number st;
     delivered := delivered st;
     certified := certified st;
     place := place st;
     txn_at := txn_at st;
     has := has st;
     out := out st;
     arrived := arrived st;
     reports := reports st;
     report_number := report_number st;
     report_value := report_value st;
     reported := reported st;
     stable := stable st;
     version := version st;
     received := fun (x0 : Member) => (if (eqb_Member x0 m) then ((received st m) + 1) else (received st x0));
     first := first st;
     next_sn := fun (x0 : Member) => (if (eqb_Member x0 m) then ((next_sn st m) + 1) else (next_sn st x0));
     lc_global := fun (x0 : Member) => (if ((eqb_Member x0 m) && (empty (txn_at st (received st m)))) then (next_sn st m) else (lc_global st x0));
     known := fun (x0 : Member) (x1 : Row) => ((known st x0 x1) || ((eqb_Member x0 m) && ((certified st (txn_at st (received st m))) && (ws (txn_at st (received st m)) x1))));
     item_sn := fun (x0 : Member) (x1 : Row) => (if ((eqb_Member x0 m) && ((certified st (txn_at st (received st m))) && (ws (txn_at st (received st m)) x1))) then (next_sn st m) else (item_sn st x0 x1));
     sn := fun (x0 : Member) (x1 : Z) => (if ((eqb_Member x0 m) && (Z.eqb x1 (received st m))) then (if (Z.eqb (received st m) (first st m)) then 0 else (next_sn st m)) else (sn st x0 x1));
     lc := fun (x0 : Member) (x1 : Z) => (if ((eqb_Member x0 m) && (Z.eqb x1 (received st m))) then new_lc else (lc st x0 x1));
     started := started st;
     row_lock := row_lock st;
     purged := purged st;
     running := running st;
     connected := connected st;
     feeds := feeds st;
     named := named st;
     told_ := told_ st;
     passed := passed st;
     length := length st;
     gtid_at := gtid_at st;
     cursor := cursor st;
     entry_of := entry_of st;
     times := times st
  |}.

(* an own transaction, whose items have no number, or a refused one *)
Definition guard_pass_over (st : state) (m : Member) : Prop :=
  ((in_group st m) && (((received st m) <? (n st)) && (negb ((certified st (txn_at st (received st m))) && (negb ((live st (txn_at st (received st m))) && (eqb_Member (home st (txn_at st (received st m))) m))))))) = true.
Definition act_pass_over (st : state) (m : Member) : state :=
  {|
     n := n st;
     in_group := in_group st;
     upto := upto st;
     value_ := value_ st;
     begun := begun st;
     live := live st;
     home := home st;
     saw := saw st;
     sent := sent st;
     snap := snap st;
     number := number st;
     delivered := delivered st;
     certified := certified st;
     place := place st;
     txn_at := txn_at st;
     has := has st;
     out := out st;
     arrived := arrived st;
     reports := reports st;
     report_number := report_number st;
     report_value := report_value st;
     reported := reported st;
     stable := stable st;
     version := version st;
     received := fun (x0 : Member) => (if (eqb_Member x0 m) then ((received st m) + 1) else (received st x0));
     first := fun (x0 : Member) => (if ((eqb_Member x0 m) && (Z.eqb (first st m) (received st m))) then ((received st m) + 1) else (first st x0));
     next_sn := next_sn st;
     lc_global := lc_global st;
     known := fun (x0 : Member) (x1 : Row) => ((known st x0 x1) || ((eqb_Member x0 m) && ((certified st (txn_at st (received st m))) && (ws (txn_at st (received st m)) x1))));
     item_sn := fun (x0 : Member) (x1 : Row) => (if ((eqb_Member x0 m) && ((certified st (txn_at st (received st m))) && (ws (txn_at st (received st m)) x1))) then 0 else (item_sn st x0 x1));
     sn := sn st;
     lc := lc st;
     started := started st;
     row_lock := row_lock st;
     purged := purged st;
     running := running st;
     connected := connected st;
     feeds := feeds st;
     named := named st;
     told_ := told_ st;
     passed := passed st;
     length := length st;
     gtid_at := gtid_at st;
     cursor := cursor st;
     entry_of := entry_of st;
     times := times st
  |}.

(* a member purges stable items, and opens any window *)
Definition guard_collect_at (st : state) (m : Member) (window : Z) (purged' : Row -> bool) : Prop :=
  (((in_group st m) = true) /\ ((((lc_global st m) <=? window) = true) /\ (((window <? (next_sn st m)) = true) /\ ((forall r : Row, ((negb (purged' r)) || (((version st (received st m) r) <? 0) || (stable st (version st (received st m) r)))) = true))))).
Definition act_collect_at (st : state) (m : Member) (window : Z) (purged' : Row -> bool) : state :=
  {|
     n := n st;
     in_group := in_group st;
     upto := upto st;
     value_ := value_ st;
     begun := begun st;
     live := live st;
     home := home st;
     saw := saw st;
     sent := sent st;
     snap := snap st;
     number := number st;
     delivered := delivered st;
     certified := certified st;
     place := place st;
     txn_at := txn_at st;
     has := has st;
     out := out st;
     arrived := arrived st;
     reports := reports st;
     report_number := report_number st;
     report_value := report_value st;
     reported := reported st;
     stable := stable st;
     version := version st;
     received := received st;
     first := first st;
     next_sn := next_sn st;
     lc_global := fun (x0 : Member) => (if (eqb_Member x0 m) then window else (lc_global st x0));
     known := fun (x0 : Member) (x1 : Row) => ((known st x0 x1) && (negb ((eqb_Member x0 m) && (purged' x1))));
     item_sn := item_sn st;
     sn := sn st;
     lc := lc st;
     started := started st;
     row_lock := row_lock st;
     purged := fun (x0 : Row) => (purged' x0);
     running := running st;
     connected := connected st;
     feeds := feeds st;
     named := named st;
     told_ := told_ st;
     passed := passed st;
     length := length st;
     gtid_at := gtid_at st;
     cursor := cursor st;
     entry_of := entry_of st;
     times := times st
  |}.

(* an unused number: up to 8.3, collection uses one up *)
Definition guard_leave_out_number (st : state) (m : Member) : Prop :=
  (in_group st m) = true.
Definition act_leave_out_number (st : state) (m : Member) : state :=
  {|
     n := n st;
     in_group := in_group st;
     upto := upto st;
     value_ := value_ st;
     begun := begun st;
     live := live st;
     home := home st;
     saw := saw st;
     sent := sent st;
     snap := snap st;
     number := number st;
     delivered := delivered st;
     certified := certified st;
     place := place st;
     txn_at := txn_at st;
     has := has st;
     out := out st;
     arrived := arrived st;
     reports := reports st;
     report_number := report_number st;
     report_value := report_value st;
     reported := reported st;
     stable := stable st;
     version := version st;
     received := received st;
     first := first st;
     next_sn := fun (x0 : Member) => (if (eqb_Member x0 m) then ((next_sn st m) + 1) else (next_sn st x0));
     lc_global := lc_global st;
     known := known st;
     item_sn := item_sn st;
     sn := sn st;
     lc := lc st;
     started := started st;
     row_lock := row_lock st;
     purged := purged st;
     running := running st;
     connected := connected st;
     feeds := feeds st;
     named := named st;
     told_ := told_ st;
     passed := passed st;
     length := length st;
     gtid_at := gtid_at st;
     cursor := cursor st;
     entry_of := entry_of st;
     times := times st
  |}.

(* a worker gets it once everything up to its LC has committed *)
Definition guard_start (st : state) (m : Member) (q : Z) : Prop :=
  (((in_group st m) = true) /\ (((0 <=? q) = true) /\ (((negb (upto st m q)) = true) /\ (((q <? (received st m)) = true) /\ (((certified st (txn_at st q)) = true) /\ (((negb ((live st (txn_at st q)) && (eqb_Member (home st (txn_at st q)) m))) = true) /\ (((negb (started st m q)) = true) /\ ((forall p : Z, (negb ((p <? q) && ((in_group st m) && ((0 <=? p) && ((negb (upto st m p)) && ((p <? (received st m)) && ((certified st (txn_at st p)) && ((negb ((live st (txn_at st p)) && (eqb_Member (home st (txn_at st p)) m))) && ((q <? (first st m)) || ((Z.eqb (sn st m q) 0) || ((sn st m p) <=? (lc st m q)))))))))))) = true))))))))).
Definition act_start (st : state) (m : Member) (q : Z) : state :=
  {|
     n := n st;
     in_group := in_group st;
     upto := upto st;
     value_ := value_ st;
     begun := begun st;
     live := live st;
     home := home st;
     saw := saw st;
     sent := sent st;
     snap := snap st;
     number := number st;
     delivered := delivered st;
     certified := certified st;
     place := place st;
     txn_at := txn_at st;
     has := has st;
     out := out st;
     arrived := arrived st;
     reports := reports st;
     report_number := report_number st;
     report_value := report_value st;
     reported := reported st;
     stable := stable st;
     version := version st;
     received := received st;
     first := first st;
     next_sn := next_sn st;
     lc_global := lc_global st;
     known := known st;
     item_sn := item_sn st;
     sn := sn st;
     lc := lc st;
     started := fun (x0 : Member) (x1 : Z) => ((started st x0 x1) || ((eqb_Member x0 m) && (Z.eqb x1 q)));
     row_lock := row_lock st;
     purged := purged st;
     running := fun (x0 : Member) (x1 : Z) => ((running st x0 x1) || ((eqb_Member x0 m) && (Z.eqb x1 q)));
     connected := connected st;
     feeds := feeds st;
     named := named st;
     told_ := told_ st;
     passed := passed st;
     length := length st;
     gtid_at := gtid_at st;
     cursor := cursor st;
     entry_of := entry_of st;
     times := times st
  |}.

(* a worker changes a row, and holds its lock until the engine commit *)
Definition guard_change_row (st : state) (m : Member) (q : Z) (r : Row) : Prop :=
  (((in_group st m) = true) /\ (((0 <=? q) = true) /\ (((negb (upto st m q)) = true) /\ (((q <? (received st m)) = true) /\ (((certified st (txn_at st q)) = true) /\ (((negb ((live st (txn_at st q)) && (eqb_Member (home st (txn_at st q)) m))) = true) /\ (((started st m q) = true) /\ (((ws (txn_at st q) r) = true) /\ (((Z.eqb (row_lock st m r) (-1)) = true) /\ ((forall t : Txn, (negb ((live st t) && ((eqb_Member (home st t) m) && (ws t r)))) = true))))))))))).
Definition act_change_row (st : state) (m : Member) (q : Z) (r : Row) : state :=
  {|
     n := n st;
     in_group := in_group st;
     upto := upto st;
     value_ := value_ st;
     begun := begun st;
     live := live st;
     home := home st;
     saw := saw st;
     sent := sent st;
     snap := snap st;
     number := number st;
     delivered := delivered st;
     certified := certified st;
     place := place st;
     txn_at := txn_at st;
     has := has st;
     out := out st;
     arrived := arrived st;
     reports := reports st;
     report_number := report_number st;
     report_value := report_value st;
     reported := reported st;
     stable := stable st;
     version := version st;
     received := received st;
     first := first st;
     next_sn := next_sn st;
     lc_global := lc_global st;
     known := known st;
     item_sn := item_sn st;
     sn := sn st;
     lc := lc st;
     started := started st;
     row_lock := fun (x0 : Member) (x1 : Row) => (if ((eqb_Member x0 m) && (eqb_Row x1 r)) then q else (row_lock st x0 x1));
     purged := purged st;
     running := running st;
     connected := connected st;
     feeds := feeds st;
     named := named st;
     told_ := told_ st;
     passed := passed st;
     length := length st;
     gtid_at := gtid_at st;
     cursor := cursor st;
     entry_of := entry_of st;
     times := times st
  |}.

(* a member outside names to a donor positions that it has *)
Definition guard_connect (st : state) (m : Member) (donor : Member) (named' : Z -> bool) : Prop :=
  (((negb (in_group st m)) = true) /\ (((in_group st donor) = true) /\ ((forall p : Z, ((negb (named' p)) || ((upto st m p) || ((0 <=? (entry_of st m p)) && (((entry_of st m p) <? (length st m)) && (Z.eqb (gtid_at st m (entry_of st m p)) p))))) = true)))).
Definition act_connect (st : state) (m : Member) (donor : Member) (named' : Z -> bool) : state :=
  {|
     n := n st;
     in_group := in_group st;
     upto := upto st;
     value_ := value_ st;
     begun := begun st;
     live := live st;
     home := home st;
     saw := saw st;
     sent := sent st;
     snap := snap st;
     number := number st;
     delivered := delivered st;
     certified := certified st;
     place := place st;
     txn_at := txn_at st;
     has := has st;
     out := out st;
     arrived := arrived st;
     reports := reports st;
     report_number := report_number st;
     report_value := report_value st;
     reported := reported st;
     stable := stable st;
     version := version st;
     received := received st;
     first := first st;
     next_sn := next_sn st;
     lc_global := lc_global st;
     known := known st;
     item_sn := item_sn st;
     sn := sn st;
     lc := lc st;
     started := started st;
     row_lock := row_lock st;
     purged := purged st;
     running := running st;
     connected := fun (x0 : Member) => ((connected st x0) || (eqb_Member x0 m));
     feeds := fun (x0 : Member) => (if (eqb_Member x0 m) then donor else (feeds st x0));
     named := fun (x0 : Z) => (named' x0);
     told_ := fun (x0 : Member) (x1 : Z) => (if (eqb_Member x0 m) then (named' x1) else (told_ st x0 x1));
     passed := fun (x0 : Member) (x1 : Z) => ((passed st x0 x1) && (negb (eqb_Member x0 m)));
     length := length st;
     gtid_at := gtid_at st;
     cursor := cursor st;
     entry_of := entry_of st;
     times := times st
  |}.

(* the donor sends the next position of its log that was not named *)
Definition guard_fetch (st : state) (m : Member) (p : Z) : Prop :=
  (((connected st m) = true) /\ (((upto st (feeds st m) p) = true) /\ (((negb (passed st m p)) = true) /\ (((forall q : Z, (forall r : Row, ((negb ((0 <=? q) && ((q <? p) && ((certified st (txn_at st q)) && ((ws (txn_at st q) r) && ((certified st (txn_at st p)) && (ws (txn_at st p) r))))))) || (passed st m q)) = true))) /\ ((negb (told_ st m p)) = true))))).
Definition act_fetch (st : state) (m : Member) (p : Z) : state :=
  {|
     n := n st;
     in_group := in_group st;
     upto := upto st;
     value_ := value_ st;
     begun := begun st;
     live := live st;
     home := home st;
     saw := saw st;
     sent := sent st;
     snap := snap st;
     number := number st;
     delivered := delivered st;
     certified := certified st;
     place := place st;
     txn_at := txn_at st;
     has := has st;
     out := out st;
     arrived := arrived st;
     reports := reports st;
     report_number := report_number st;
     report_value := report_value st;
     reported := reported st;
     stable := stable st;
     version := version st;
     received := received st;
     first := first st;
     next_sn := next_sn st;
     lc_global := lc_global st;
     known := known st;
     item_sn := item_sn st;
     sn := sn st;
     lc := lc st;
     started := started st;
     row_lock := row_lock st;
     purged := purged st;
     running := running st;
     connected := connected st;
     feeds := feeds st;
     named := named st;
     told_ := told_ st;
     passed := fun (x0 : Member) (x1 : Z) => ((passed st x0 x1) || ((eqb_Member x0 m) && (Z.eqb x1 p)));
     length := fun (x0 : Member) => (if (eqb_Member x0 m) then ((length st m) + 1) else (length st x0));
     gtid_at := fun (x0 : Member) (x1 : Z) => (if ((eqb_Member x0 m) && (Z.eqb x1 (length st m))) then p else (gtid_at st x0 x1));
     cursor := cursor st;
     entry_of := fun (x0 : Member) (x1 : Z) => (if ((eqb_Member x0 m) && ((Z.eqb x1 p) && (negb ((0 <=? (entry_of st m p)) && (((entry_of st m p) <? (length st m)) && (Z.eqb (gtid_at st m (entry_of st m p)) p)))))) then (length st m) else (entry_of st x0 x1));
     times := times st
  |}.

(* the donor does not send what was named *)
Definition guard_leave_out (st : state) (m : Member) (p : Z) : Prop :=
  (((connected st m) = true) /\ (((upto st (feeds st m) p) = true) /\ (((negb (passed st m p)) = true) /\ (((forall q : Z, (forall r : Row, ((negb ((0 <=? q) && ((q <? p) && ((certified st (txn_at st q)) && ((ws (txn_at st q) r) && ((certified st (txn_at st p)) && (ws (txn_at st p) r))))))) || (passed st m q)) = true))) /\ ((told_ st m p) = true))))).
Definition act_leave_out (st : state) (m : Member) (p : Z) : state :=
  {|
     n := n st;
     in_group := in_group st;
     upto := upto st;
     value_ := value_ st;
     begun := begun st;
     live := live st;
     home := home st;
     saw := saw st;
     sent := sent st;
     snap := snap st;
     number := number st;
     delivered := delivered st;
     certified := certified st;
     place := place st;
     txn_at := txn_at st;
     has := has st;
     out := out st;
     arrived := arrived st;
     reports := reports st;
     report_number := report_number st;
     report_value := report_value st;
     reported := reported st;
     stable := stable st;
     version := version st;
     received := received st;
     first := first st;
     next_sn := next_sn st;
     lc_global := lc_global st;
     known := known st;
     item_sn := item_sn st;
     sn := sn st;
     lc := lc st;
     started := started st;
     row_lock := row_lock st;
     purged := purged st;
     running := running st;
     connected := connected st;
     feeds := feeds st;
     named := named st;
     told_ := told_ st;
     passed := fun (x0 : Member) (x1 : Z) => ((passed st x0 x1) || ((eqb_Member x0 m) && (Z.eqb x1 p)));
     length := length st;
     gtid_at := gtid_at st;
     cursor := cursor st;
     entry_of := entry_of st;
     times := times st
  |}.

(* the connection breaks *)
Definition guard_disconnect (st : state) (m : Member) : Prop :=
  true = true.
Definition act_disconnect (st : state) (m : Member) : state :=
  {|
     n := n st;
     in_group := in_group st;
     upto := upto st;
     value_ := value_ st;
     begun := begun st;
     live := live st;
     home := home st;
     saw := saw st;
     sent := sent st;
     snap := snap st;
     number := number st;
     delivered := delivered st;
     certified := certified st;
     place := place st;
     txn_at := txn_at st;
     has := has st;
     out := out st;
     arrived := arrived st;
     reports := reports st;
     report_number := report_number st;
     report_value := report_value st;
     reported := reported st;
     stable := stable st;
     version := version st;
     received := received st;
     first := first st;
     next_sn := next_sn st;
     lc_global := lc_global st;
     known := known st;
     item_sn := item_sn st;
     sn := sn st;
     lc := lc st;
     started := started st;
     row_lock := row_lock st;
     purged := purged st;
     running := running st;
     connected := fun (x0 : Member) => ((connected st x0) && (negb (eqb_Member x0 m)));
     feeds := feeds st;
     named := named st;
     told_ := told_ st;
     passed := passed st;
     length := length st;
     gtid_at := gtid_at st;
     cursor := cursor st;
     entry_of := entry_of st;
     times := times st
  |}.

(* outside the group, a member commits the next entry of recovery *)
Definition guard_recover (st : state) (m : Member) : Prop :=
  ((negb (in_group st m)) && (((cursor st m) <? (length st m)) && ((0 <=? (gtid_at st m (cursor st m))) && (negb (upto st m (gtid_at st m (cursor st m))))))) = true.
Definition act_recover (st : state) (m : Member) : state :=
  {|
     n := n st;
     in_group := in_group st;
     upto := fun (x0 : Member) (x1 : Z) => ((upto st x0 x1) || ((eqb_Member x0 m) && (Z.eqb x1 (gtid_at st m (cursor st m)))));
     value_ := fun (x0 : Member) (x1 : Row) => (if ((eqb_Member x0 m) && ((certified st (txn_at st (gtid_at st m (cursor st m)))) && (ws (txn_at st (gtid_at st m (cursor st m))) x1))) then (gtid_at st m (cursor st m)) else (value_ st x0 x1));
     begun := begun st;
     live := live st;
     home := home st;
     saw := saw st;
     sent := sent st;
     snap := snap st;
     number := number st;
     delivered := delivered st;
     certified := certified st;
     place := place st;
     txn_at := txn_at st;
     has := has st;
     out := out st;
     arrived := arrived st;
     reports := reports st;
     report_number := report_number st;
     report_value := report_value st;
     reported := reported st;
     stable := stable st;
     version := version st;
     received := received st;
     first := first st;
     next_sn := next_sn st;
     lc_global := lc_global st;
     known := known st;
     item_sn := item_sn st;
     sn := sn st;
     lc := lc st;
     started := started st;
     row_lock := row_lock st;
     purged := purged st;
     running := running st;
     connected := connected st;
     feeds := feeds st;
     named := named st;
     told_ := told_ st;
     passed := passed st;
     length := length st;
     gtid_at := gtid_at st;
     cursor := fun (x0 : Member) => (if (eqb_Member x0 m) then ((cursor st m) + 1) else (cursor st x0));
     entry_of := entry_of st;
     times := fun (x0 : Member) (x1 : Z) => (if ((eqb_Member x0 m) && (Z.eqb x1 (gtid_at st m (cursor st m)))) then ((times st x0 x1) + 1) else (times st x0 x1))
  |}.

(* GTID auto-skip: it has committed before *)
Definition guard_skip (st : state) (m : Member) : Prop :=
  ((negb (in_group st m)) && (((cursor st m) <? (length st m)) && (negb ((0 <=? (gtid_at st m (cursor st m))) && (negb (upto st m (gtid_at st m (cursor st m)))))))) = true.
Definition act_skip (st : state) (m : Member) : state :=
  {|
     n := n st;
     in_group := in_group st;
     upto := upto st;
     value_ := value_ st;
     begun := begun st;
     live := live st;
     home := home st;
     saw := saw st;
     sent := sent st;
     snap := snap st;
     number := number st;
     delivered := delivered st;
     certified := certified st;
     place := place st;
     txn_at := txn_at st;
     has := has st;
     out := out st;
     arrived := arrived st;
     reports := reports st;
     report_number := report_number st;
     report_value := report_value st;
     reported := reported st;
     stable := stable st;
     version := version st;
     received := received st;
     first := first st;
     next_sn := next_sn st;
     lc_global := lc_global st;
     known := known st;
     item_sn := item_sn st;
     sn := sn st;
     lc := lc st;
     started := started st;
     row_lock := row_lock st;
     purged := purged st;
     running := running st;
     connected := connected st;
     feeds := feeds st;
     named := named st;
     told_ := told_ st;
     passed := passed st;
     length := length st;
     gtid_at := gtid_at st;
     cursor := fun (x0 : Member) => (if (eqb_Member x0 m) then ((cursor st m) + 1) else (cursor st x0));
     entry_of := entry_of st;
     times := times st
  |}.

(* a crash in recovery takes any end of the relay log *)
Definition guard_restart (st : state) (m : Member) (left : Z) (begin : Z) : Prop :=
  (((negb (in_group st m)) = true) /\ (((0 <=? begin) = true) /\ (((begin <=? left) = true) /\ (((left <=? (length st m)) = true) /\ ((forall e : Z, ((negb ((0 <=? e) && (e <? begin))) || (upto st m (gtid_at st m e))) = true)))))).
Definition act_restart (st : state) (m : Member) (left : Z) (begin : Z) : state :=
  {|
     n := n st;
     in_group := in_group st;
     upto := upto st;
     value_ := value_ st;
     begun := begun st;
     live := live st;
     home := home st;
     saw := saw st;
     sent := sent st;
     snap := snap st;
     number := number st;
     delivered := delivered st;
     certified := certified st;
     place := place st;
     txn_at := txn_at st;
     has := has st;
     out := out st;
     arrived := arrived st;
     reports := reports st;
     report_number := report_number st;
     report_value := report_value st;
     reported := reported st;
     stable := stable st;
     version := version st;
     received := received st;
     first := first st;
     next_sn := next_sn st;
     lc_global := lc_global st;
     known := known st;
     item_sn := item_sn st;
     sn := sn st;
     lc := lc st;
     started := started st;
     row_lock := row_lock st;
     purged := purged st;
     running := running st;
     connected := fun (x0 : Member) => ((connected st x0) && (negb (eqb_Member x0 m)));
     feeds := feeds st;
     named := named st;
     told_ := told_ st;
     passed := passed st;
     length := fun (x0 : Member) => (if (eqb_Member x0 m) then left else (length st x0));
     gtid_at := gtid_at st;
     cursor := fun (x0 : Member) => (if (eqb_Member x0 m) then begin else (cursor st x0));
     entry_of := entry_of st;
     times := times st
  |}.

Inductive step (st : state) : state -> Prop :=
| step_execute : forall (t : Txn) (m : Member), guard_execute st t m ->
    step st (act_execute st t m)
| step_take_snapshot : forall (t : Txn), guard_take_snapshot st t ->
    step st (act_take_snapshot st t)
| step_send : forall (t : Txn), guard_send st t ->
    step st (act_send st t)
| step_roll_back : forall (t : Txn), guard_roll_back st t ->
    step st (act_roll_back st t)
| step_certify : forall (t : Txn), guard_certify st t ->
    step st (act_certify st t)
| step_refuse : forall (t : Txn) (r : Row), guard_refuse st t r ->
    step st (act_refuse st t r)
| step_report : forall (m : Member), guard_report st m ->
    step st (act_report st m)
| step_receive_report : forall (m : Member), guard_receive_report st m ->
    step st (act_receive_report st m)
| step_settle : forall (q : Z), guard_settle st q ->
    step st (act_settle st q)
| step_collect : forall (r : Row), guard_collect st r ->
    step st (act_collect st r)
| step_apply : forall (m : Member) (q : Z), guard_apply st m q ->
    step st (act_apply st m q)
| step_crash : forall (m : Member), guard_crash st m ->
    step st (act_crash st m)
| step_join : forall (m : Member) (donor : Member), guard_join st m donor ->
    step st (act_join st m donor)
| step_receive : forall (m : Member) (new_lc : Z), guard_receive st m new_lc ->
    step st (act_receive st m new_lc)
| step_pass_over : forall (m : Member), guard_pass_over st m ->
    step st (act_pass_over st m)
| step_collect_at : forall (m : Member) (window : Z) (purged' : Row -> bool), guard_collect_at st m window purged' ->
    step st (act_collect_at st m window purged')
| step_leave_out_number : forall (m : Member), guard_leave_out_number st m ->
    step st (act_leave_out_number st m)
| step_start : forall (m : Member) (q : Z), guard_start st m q ->
    step st (act_start st m q)
| step_change_row : forall (m : Member) (q : Z) (r : Row), guard_change_row st m q r ->
    step st (act_change_row st m q r)
| step_connect : forall (m : Member) (donor : Member) (named' : Z -> bool), guard_connect st m donor named' ->
    step st (act_connect st m donor named')
| step_fetch : forall (m : Member) (p : Z), guard_fetch st m p ->
    step st (act_fetch st m p)
| step_leave_out : forall (m : Member) (p : Z), guard_leave_out st m p ->
    step st (act_leave_out st m p)
| step_disconnect : forall (m : Member), guard_disconnect st m ->
    step st (act_disconnect st m)
| step_recover : forall (m : Member), guard_recover st m ->
    step st (act_recover st m)
| step_skip : forall (m : Member), guard_skip st m ->
    step st (act_skip st m)
| step_restart : forall (m : Member) (left : Z) (begin : Z), guard_restart st m left begin ->
    step st (act_restart st m left begin).

(* it is inductive *)
Definition inv_changes_are_made_on_the_last_version (st : state) : Prop :=
  (forall t : Txn, (forall r : Row, ((negb ((certified st t) && (ws t r))) || (Z.eqb (saw st t r) (version st (place st t) r))) = true)).

(* while its rows are locked, no writer of them is applied after a session's snapshot *)
Definition inv_snapshots_have_applied_writers (st : state) : Prop :=
  (forall t : Txn, (forall p : Z, (forall r : Row, ((negb ((live st t) && ((negb (sent st t)) && ((certified st (txn_at st p)) && ((ws (txn_at st p) r) && ((ws t r) && ((p <? 0) || (upto st (home st t) p)))))))) || ((p <? 0) || (snap st t p))) = true))).

(* what is in flight was sent after the last report of its member *)
Definition inv_snapshots_have_reported_writers (st : state) : Prop :=
  (forall t : Txn, (forall p : Z, (forall r : Row, ((negb ((sent st t) && ((negb (delivered st t)) && (((arrived st (home st t)) <=? (number st t)) && ((in_group st (home st t)) && ((certified st (txn_at st p)) && ((ws (txn_at st p) r) && ((ws t r) && ((p <? 0) || (reported st (home st t) p)))))))))) || ((p <? 0) || (snap st t p))) = true))).

(* and after a report that is in flight before it *)
Definition inv_snapshots_have_writers_reported_before (st : state) : Prop :=
  (forall t : Txn, (forall p : Z, (forall r : Row, ((negb ((sent st t) && ((negb (delivered st t)) && (((arrived st (home st t)) <=? (number st t)) && ((in_group st (home st t)) && ((certified st (txn_at st p)) && ((ws (txn_at st p) r) && ((ws t r) && ((reports st (home st t)) && (((report_number st (home st t)) <? (number st t)) && ((p <? 0) || (report_value st (home st t) p)))))))))))) || ((p <? 0) || (snap st t p))) = true))).

(* nobody reports what it did not apply, and later reports are higher *)
Definition inv_reports_rise (st : state) : Prop :=
  (forall m : Member, (forall p : Z, ((negb (in_group st m)) || (((negb (stable st p)) || (reported st m p)) && (((negb (reported st m p)) || (upto st m p)) && ((negb (reports st m)) || (((negb (reported st m p)) || (report_value st m p)) && ((negb (report_value st m p)) || (upto st m p))))))) = true)).

(* a report is delivered after it is sent *)
Definition inv_reports_are_in_flight (st : state) : Prop :=
  (forall m : Member, ((negb (reports st m)) || ((in_group st m) && (((arrived st m) <=? (report_number st m)) && ((report_number st m) <? (out st m))))) = true).

(* a member numbers what it sends *)
Definition inv_numbers_were_given (st : state) : Prop :=
  (forall t : Txn, ((negb (sent st t)) || ((number st t) <? (out st (home st t)))) = true).

(* no two messages of a member have one number *)
Definition inv_numbers_differ_from_reports (st : state) : Prop :=
  (forall t : Txn, ((negb ((sent st t) && (reports st (home st t)))) || (negb (Z.eqb (number st t) (report_number st (home st t))))) = true).

(* nothing is delivered that was not sent *)
Definition inv_arrivals_were_sent (st : state) : Prop :=
  (forall m : Member, ((arrived st m) <=? (out st m)) = true).

(* an item that is missing was of a stable version, or there is none *)
Definition inv_what_was_purged_is_stable (st : state) : Prop :=
  (forall r : Row, ((has st r) || (((version st (n st) r) <? 0) || (stable st (version st (n st) r)))) = true).

(* only what was delivered is stable *)
Definition inv_stable_is_delivered (st : state) : Prop :=
  (forall p : Z, (((negb (stable st p)) || (0 <=? p)) && ((negb (stable st p)) || (p <? (n st)))) = true).

(* a session's rows are locked, so nobody changes them before it is sent *)
Definition inv_executing_reads_are_current (st : state) : Prop :=
  (forall t : Txn, (forall r : Row, ((negb ((live st t) && ((negb (sent st t)) && (ws t r)))) || (Z.eqb (saw st t r) (value_ st (home st t) r))) = true)).

(* the order begins at 0 *)
Definition inv_positions_are_natural (st : state) : Prop :=
  (0 <=? (n st)) = true.

(* it is inductive *)
Definition inv_writers_of_a_row_commit_in_order (st : state) : Prop :=
  (forall m : Member, (forall p : Z, (forall q : Z, (forall r : Row, ((negb ((0 <=? p) && ((p <? q) && ((certified st (txn_at st p)) && ((ws (txn_at st p) r) && ((certified st (txn_at st q)) && ((ws (txn_at st q) r) && (upto st m q)))))))) || (upto st m p)) = true)))).

(* it is inductive *)
Definition inv_members_show_the_last_committed_writer (st : state) : Prop :=
  (forall m : Member, (forall p : Z, (forall r : Row, ((negb ((upto st m p) && ((certified st (txn_at st p)) && (ws (txn_at st p) r)))) || (p <=? (value_ st m r))) = true))).

(* what is stored was committed *)
Definition inv_members_show_committed_writers (st : state) : Prop :=
  (forall m : Member, (forall r : Row, ((Z.eqb (value_ st m r) (-1)) || ((upto st m (value_ st m r)) && ((certified st (txn_at st (value_ st m r))) && (ws (txn_at st (value_ st m r)) r)))) = true)).

(* what a session read is in its snapshot *)
Definition inv_reads_are_of_the_snapshot (st : state) : Prop :=
  (forall t : Txn, (forall r : Row, ((negb ((begun st t) && (ws t r))) || ((Z.eqb (saw st t r) (-1)) || ((snap st t (saw st t r)) && ((certified st (txn_at st (saw st t r))) && (ws (txn_at st (saw st t r)) r))))) = true)).

(* and nothing later is *)
Definition inv_reads_are_the_last_of_the_snapshot (st : state) : Prop :=
  (forall t : Txn, (forall p : Z, (forall r : Row, ((negb ((begun st t) && ((ws t r) && ((snap st t p) && ((certified st (txn_at st p)) && (ws (txn_at st p) r)))))) || (p <=? (saw st t r))) = true))).

(* a snapshot with a writer has all earlier ones *)
Definition inv_snapshots_keep_the_order_of_writers (st : state) : Prop :=
  (forall t : Txn, (forall p : Z, (forall q : Z, (forall r : Row, ((negb ((begun st t) && ((0 <=? p) && ((p <? q) && ((certified st (txn_at st p)) && ((ws (txn_at st p) r) && ((certified st (txn_at st q)) && ((ws (txn_at st q) r) && (snap st t q))))))))) || (snap st t p)) = true)))).

(* nobody applies what was not delivered *)
Definition inv_members_are_in_the_order (st : state) : Prop :=
  (forall m : Member, (forall p : Z, (((negb (upto st m p)) || (0 <=? p)) && ((negb (upto st m p)) || (p <? (n st)))) = true)).

(* a snapshot is what a member had applied *)
Definition inv_snapshots_are_prefixes (st : state) : Prop :=
  (forall t : Txn, (forall p : Z, ((negb (begun st t)) || (((negb (snap st t p)) || (0 <=? p)) && (((negb (snap st t p)) || (p <? (n st))) && ((negb (delivered st t)) || ((negb (snap st t p)) || (p <? (place st t))))))) = true)).

(* a transaction is executed, sent, delivered, certified, in this order *)
Definition inv_places_are_positions (st : state) : Prop :=
  (forall t : Txn, (((negb (delivered st t)) || ((sent st t) && ((0 <=? (place st t)) && ((place st t) <? (n st))))) && (((negb (certified st t)) || (delivered st t)) && (((negb (sent st t)) || (begun st t)) && ((negb (live st t)) || ((begun st t) && (in_group st (home st t))))))) = true).

(* a version was written before *)
Definition inv_versions_are_earlier (st : state) : Prop :=
  (forall p : Z, (forall r : Row, ((negb ((0 <=? p) && (p <=? (n st)))) || (((-1) <=? (version st p r)) && ((version st p r) <? p))) = true)).

(* a version is a certified writer, or none *)
Definition inv_versions_are_certified_writers (st : state) : Prop :=
  (forall p : Z, (forall r : Row, ((negb ((0 <=? p) && ((p <=? (n st)) && (0 <=? (version st p r))))) || ((certified st (txn_at st (version st p r))) && (ws (txn_at st (version st p r)) r))) = true)).

(* no certified writer before a position is later than its version *)
Definition inv_no_later_writer_is_missed (st : state) : Prop :=
  (forall p : Z, (forall q : Z, (forall r : Row, ((negb ((0 <=? p) && ((p <? q) && ((q <=? (n st)) && ((certified st (txn_at st p)) && (ws (txn_at st p) r)))))) || (p <=? (version st q r))) = true))).

(* each position is of a delivered transaction *)
Definition inv_positions_are_of_delivered (st : state) : Prop :=
  (forall p : Z, ((negb ((0 <=? p) && (p <? (n st)))) || (delivered st (txn_at st p))) = true).

(* it is inductive *)
Definition inv_conflicting_rows_are_ordered (st : state) : Prop :=
  (forall m : Member, (forall p : Z, (forall q : Z, (forall r : Row, (negb ((p <? q) && ((in_group st m) && ((0 <=? p) && ((negb (upto st m p)) && ((p <? (received st m)) && ((certified st (txn_at st p)) && ((negb ((live st (txn_at st p)) && (eqb_Member (home st (txn_at st p)) m))) && ((in_group st m) && ((0 <=? q) && ((negb (upto st m q)) && ((q <? (received st m)) && ((certified st (txn_at st q)) && ((negb ((live st (txn_at st q)) && (eqb_Member (home st (txn_at st q)) m))) && ((certified st (txn_at st p)) && ((ws (txn_at st p) r) && ((certified st (txn_at st q)) && ((ws (txn_at st q) r) && (started st m q))))))))))))))))))) = true)))).

(* LC is taken below the next number *)
Definition inv_last_committed_is_below (st : state) : Prop :=
  (forall m : Member, (forall p : Z, ((negb ((in_group st m) && ((0 <=? p) && ((negb (upto st m p)) && ((p <? (received st m)) && ((certified st (txn_at st p)) && ((negb ((live st (txn_at st p)) && (eqb_Member (home st (txn_at st p)) m))) && ((first st m) <? p)))))))) || ((1 <=? (lc st m p)) && ((lc st m p) <? (sn st m p)))) = true)).

(* it is inductive *)
Definition inv_rows_of_a_session_are_its_own (st : state) : Prop :=
  (forall t : Txn, (forall r : Row, ((negb ((live st t) && (ws t r))) || (Z.eqb (row_lock st (home st t) r) (-1))) = true)).

(* what is applied was received, and what is received was delivered *)
Definition inv_received_is_in_the_order (st : state) : Prop :=
  (forall m : Member, (forall p : Z, ((negb (in_group st m)) || (((negb (upto st m p)) || (p <? (received st m))) && (((received st m) <=? (n st)) && ((first st m) <=? (received st m))))) = true)).

(* a member receives from 0 on *)
Definition inv_received_are_positions (st : state) : Prop :=
  (forall m : Member, ((negb (in_group st m)) || ((0 <=? (received st m)) && (((received st m) <=? (n st)) && ((first st m) <=? (received st m))))) = true).

(* a worker that has changed a row follows all earlier writers of it *)
Definition inv_earlier_writers_have_committed (st : state) : Prop :=
  (forall m : Member, (forall p : Z, (forall r : Row, ((negb ((in_group st m) && ((negb (Z.eqb (row_lock st m r) (-1))) && ((0 <=? p) && ((p <? (row_lock st m r)) && ((certified st (txn_at st p)) && (ws (txn_at st p) r))))))) || (upto st m p)) = true))).

(* the one with (0, 0) commits after all that a joiner gets in recovery *)
Definition inv_recovery_is_before_the_first (st : state) : Prop :=
  (forall m : Member, (forall p : Z, ((negb ((in_group st m) && ((0 <=? p) && ((negb (upto st m p)) && ((p <? (received st m)) && ((certified st (txn_at st p)) && ((negb ((live st (txn_at st p)) && (eqb_Member (home st (txn_at st p)) m))) && (p <? (first st m))))))))) || ((0 <=? (first st m)) && (negb (upto st m (first st m))))) = true)).

(* the window lies below the next number *)
Definition inv_counters (st : state) : Prop :=
  (forall m : Member, ((1 <=? (lc_global st m)) && ((lc_global st m) <? (next_sn st m))) = true).

(* what was numbered is below the next number *)
Definition inv_numbers_lie_below_the_counter (st : state) : Prop :=
  (forall m : Member, (forall p : Z, ((negb ((in_group st m) && ((0 <=? p) && ((negb (upto st m p)) && ((p <? (received st m)) && ((certified st (txn_at st p)) && ((negb ((live st (txn_at st p)) && (eqb_Member (home st (txn_at st p)) m))) && ((first st m) <? p)))))))) || ((sn st m p) <? (next_sn st m))) = true)).

(* the first remote transaction after a start has (0, 0) *)
Definition inv_first_is_marked (st : state) : Prop :=
  (forall m : Member, ((negb ((in_group st m) && ((0 <=? (first st m)) && ((first st m) <? (received st m))))) || ((certified st (txn_at st (first st m))) && ((negb ((live st (txn_at st (first st m))) && (eqb_Member (home st (txn_at st (first st m))) m))) && (Z.eqb (sn st m (first st m)) 0)))) = true).

(* a writer that waits is remembered by the row's item or by the window *)
Definition inv_item_is_covered (st : state) : Prop :=
  (forall m : Member, (forall p : Z, (forall r : Row, ((negb ((in_group st m) && ((0 <=? p) && ((negb (upto st m p)) && ((p <? (received st m)) && ((certified st (txn_at st p)) && ((negb ((live st (txn_at st p)) && (eqb_Member (home st (txn_at st p)) m))) && (((first st m) <? p) && ((certified st (txn_at st p)) && (ws (txn_at st p) r)))))))))) || (((known st m r) && ((sn st m p) <=? (item_sn st m r))) || ((sn st m p) <=? (lc_global st m)))) = true))).

(* one without write set is remembered by the window *)
Definition inv_fence_is_covered (st : state) : Prop :=
  (forall m : Member, (forall p : Z, ((negb ((in_group st m) && ((0 <=? p) && ((negb (upto st m p)) && ((p <? (received st m)) && ((certified st (txn_at st p)) && ((negb ((live st (txn_at st p)) && (eqb_Member (home st (txn_at st p)) m))) && (((first st m) <? p) && (empty (txn_at st p)))))))))) || ((sn st m p) <=? (lc_global st m))) = true)).

(* the later writer's LC reaches the earlier one's SN *)
Definition inv_row_dependency_is_stamped (st : state) : Prop :=
  (forall m : Member, (forall p : Z, (forall q : Z, (forall r : Row, ((negb ((p <? q) && ((in_group st m) && ((0 <=? p) && ((negb (upto st m p)) && ((p <? (received st m)) && ((certified st (txn_at st p)) && ((negb ((live st (txn_at st p)) && (eqb_Member (home st (txn_at st p)) m))) && ((in_group st m) && ((0 <=? q) && ((negb (upto st m q)) && ((q <? (received st m)) && ((certified st (txn_at st q)) && ((negb ((live st (txn_at st q)) && (eqb_Member (home st (txn_at st q)) m))) && ((certified st (txn_at st p)) && ((ws (txn_at st p) r) && ((certified st (txn_at st q)) && ((ws (txn_at st q) r) && ((first st m) <=? p))))))))))))))))))) || ((sn st m p) <=? (lc st m q))) = true)))).

(* LC reaches across a transaction without write set *)
Definition inv_fence_is_stamped (st : state) : Prop :=
  (forall m : Member, (forall p : Z, (forall q : Z, ((negb ((p <? q) && ((in_group st m) && ((0 <=? p) && ((negb (upto st m p)) && ((p <? (received st m)) && ((certified st (txn_at st p)) && ((negb ((live st (txn_at st p)) && (eqb_Member (home st (txn_at st p)) m))) && ((in_group st m) && ((0 <=? q) && ((negb (upto st m q)) && ((q <? (received st m)) && ((certified st (txn_at st q)) && ((negb ((live st (txn_at st q)) && (eqb_Member (home st (txn_at st q)) m))) && (((empty (txn_at st p)) || (empty (txn_at st q))) && ((first st m) <=? p)))))))))))))))) || ((sn st m p) <=? (lc st m q))) = true))).

(* each started transaction had everything up to its LC committed *)
Definition inv_start_respects_last_committed (st : state) : Prop :=
  (forall m : Member, (forall p : Z, (forall q : Z, (negb ((p <? q) && ((in_group st m) && ((0 <=? p) && ((negb (upto st m p)) && ((p <? (received st m)) && ((certified st (txn_at st p)) && ((negb ((live st (txn_at st p)) && (eqb_Member (home st (txn_at st p)) m))) && ((in_group st m) && ((0 <=? q) && ((negb (upto st m q)) && ((q <? (received st m)) && ((certified st (txn_at st q)) && ((negb ((live st (txn_at st q)) && (eqb_Member (home st (txn_at st q)) m))) && ((started st m q) && ((q <? (first st m)) || ((Z.eqb (sn st m q) 0) || ((sn st m p) <=? (lc st m q))))))))))))))))))) = true))).

(* a worker runs what its member received *)
Definition inv_started_was_received (st : state) : Prop :=
  (forall m : Member, (forall p : Z, ((negb ((in_group st m) && (started st m p))) || ((p <? (received st m)) && ((certified st (txn_at st p)) && (negb ((live st (txn_at st p)) && (eqb_Member (home st (txn_at st p)) m)))))) = true)).

(* a row is locked by a worker that has changed it and has not committed *)
Definition inv_row_lock_is_a_workers (st : state) : Prop :=
  (forall m : Member, (forall r : Row, ((negb ((in_group st m) && (negb (Z.eqb (row_lock st m r) (-1))))) || ((0 <=? (row_lock st m r)) && ((negb (upto st m (row_lock st m r))) && ((started st m (row_lock st m r)) && ((certified st (txn_at st (row_lock st m r))) && (ws (txn_at st (row_lock st m r)) r)))))) = true)).

(* no two sessions of a member have locked one row *)
Definition inv_sessions_lock_apart (st : state) : Prop :=
  (forall t : Txn, (forall u : Txn, (forall r : Row, ((negb ((live st t) && ((live st u) && ((eqb_Member (home st t) (home st u)) && ((ws t r) && (ws u r)))))) || (eqb_Txn t u)) = true))).

(* a session's snapshot is applied at its member *)
Definition inv_snapshots_were_applied (st : state) : Prop :=
  (forall t : Txn, (forall p : Z, ((negb (live st t)) || ((negb (snap st t p)) || (upto st (home st t) p))) = true)).

(* at its position, no row that it writes is newer than its snapshot *)
Definition inv_what_is_written_is_current (st : state) : Prop :=
  (forall t : Txn, (forall r : Row, ((negb ((certified st t) && (ws t r))) || (((version st (place st t) r) <? 0) || (snap st t (version st (place st t) r)))) = true)).

(* each position is its transaction's place *)
Definition inv_positions_are_places (st : state) : Prop :=
  (forall p : Z, ((negb ((0 <=? p) && (p <? (n st)))) || (Z.eqb (place st (txn_at st p)) p)) = true).

(* a commit adds data and GTID at once *)
Definition inv_times_are_of_executed (st : state) : Prop :=
  (forall m : Member, (forall p : Z, (Z.eqb (times st m p) (if (upto st m p) then 1 else 0)) = true)).

(* a worker takes what has not committed, and ends with its commit *)
Definition inv_running_has_not_committed (st : state) : Prop :=
  (forall m : Member, (forall p : Z, ((negb (running st m p)) || ((in_group st m) && ((0 <=? p) && ((negb (upto st m p)) && (started st m p))))) = true)).

(* a session ends with its commit *)
Definition inv_sessions_have_not_committed (st : state) : Prop :=
  (forall m : Member, (forall p : Z, ((negb ((0 <=? p) && ((p <? (received st m)) && ((live st (txn_at st p)) && (eqb_Member (home st (txn_at st p)) m))))) || ((0 <=? p) && (negb (upto st m p)))) = true)).

(* it is inductive *)
Definition inv_nothing_is_passed_over (st : state) : Prop :=
  (forall m : Member, (forall p : Z, ((negb ((connected st m) && (passed st m p))) || ((upto st m p) || ((0 <=? (entry_of st m p)) && (((entry_of st m p) <? (length st m)) && (Z.eqb (gtid_at st m (entry_of st m p)) p))))) = true)).

(* while a connection stands, the member keeps what it named *)
Definition inv_told_is_there (st : state) : Prop :=
  (forall m : Member, (forall p : Z, ((negb ((connected st m) && (told_ st m p))) || ((upto st m p) || ((0 <=? (entry_of st m p)) && (((entry_of st m p) <? (length st m)) && (Z.eqb (gtid_at st m (entry_of st m p)) p))))) = true)).

(* a donor sends what was delivered *)
Definition inv_entries_are_of_the_order (st : state) : Prop :=
  (forall m : Member, (forall e : Z, ((negb ((0 <=? e) && (e <? (length st m)))) || ((0 <=? (gtid_at st m e)) && ((gtid_at st m e) <? (n st)))) = true)).

(* an earlier writer of its rows is executed, or comes before *)
Definition inv_earlier_writers_come_first (st : state) : Prop :=
  (forall m : Member, (forall e : Z, (forall q : Z, (forall r : Row, ((negb ((0 <=? e) && ((e <? (length st m)) && ((0 <=? q) && ((q <? (gtid_at st m e)) && ((certified st (txn_at st q)) && ((ws (txn_at st q) r) && ((certified st (txn_at st (gtid_at st m e))) && (ws (txn_at st (gtid_at st m e)) r))))))))) || ((upto st m q) || ((0 <=? (entry_of st m q)) && (((entry_of st m q) <? (length st m)) && ((Z.eqb (gtid_at st m (entry_of st m q)) q) && ((entry_of st m q) <? e)))))) = true)))).

(* recovery has executed what it has read *)
Definition inv_read_is_executed (st : state) : Prop :=
  (forall m : Member, (forall e : Z, ((negb ((0 <=? e) && (e <? (cursor st m)))) || (upto st m (gtid_at st m e))) = true)).

(* it reads inside its relay log *)
Definition inv_cursor_is_inside (st : state) : Prop :=
  (forall m : Member, ((0 <=? (cursor st m)) && ((cursor st m) <=? (length st m))) = true).

(* a member outside recovers from one inside *)
Definition inv_connected_are_outside (st : state) : Prop :=
  (forall m : Member, ((negb (connected st m)) || ((negb (in_group st m)) && (in_group st (feeds st m)))) = true).

(* whatever was certified changed, at its member, the version that the certified writer before it had left: no update is lost *)
Definition safe_changes_are_made_on_the_last_version (st : state) : Prop :=
  (forall t : Txn, (forall r : Row, ((negb ((certified st t) && (ws t r))) || (Z.eqb (saw st t r) (version st (place st t) r))) = true)).

(* A2: what is stable and writes a row of a transaction to be certified is in its snapshot *)
Definition safe_stable_writers_are_in_snapshots (st : state) : Prop :=
  (forall t : Txn, (forall p : Z, (forall r : Row, ((negb ((sent st t) && ((negb (delivered st t)) && (((arrived st (home st t)) <=? (number st t)) && ((in_group st (home st t)) && ((certified st (txn_at st p)) && ((ws (txn_at st p) r) && ((ws t r) && ((p <? 0) || (stable st p)))))))))) || ((p <? 0) || (snap st t p))) = true))).

(* A11: only what this member has applied is purged *)
Definition safe_stable_is_applied_at_every_member (st : state) : Prop :=
  (forall m : Member, (forall p : Z, ((negb (in_group st m)) || ((negb (stable st p)) || (upto st m p))) = true)).

(* a member commits a writer of a row after all earlier ones *)
Definition safe_writers_of_a_row_commit_in_order (st : state) : Prop :=
  (forall m : Member, (forall p : Z, (forall q : Z, (forall r : Row, ((negb ((0 <=? p) && ((p <? q) && ((certified st (txn_at st p)) && ((ws (txn_at st p) r) && ((certified st (txn_at st q)) && ((ws (txn_at st q) r) && (upto st m q)))))))) || (upto st m p)) = true)))).

(* no commit takes a row back to an earlier version *)
Definition safe_members_show_the_last_committed_writer (st : state) : Prop :=
  (forall m : Member, (forall p : Z, (forall r : Row, ((negb ((upto st m p) && ((certified st (txn_at st p)) && (ws (txn_at st p) r)))) || (p <=? (value_ st m r))) = true))).

(* a member that has committed all writers of a row shows the certified version, as each other one does *)
Definition safe_members_agree_in_the_end (st : state) : Prop :=
  (forall m : Member, (forall r : Row, (((forall p : Z, ((negb ((0 <=? p) && ((p <? (n st)) && ((certified st (txn_at st p)) && (ws (txn_at st p) r))))) || (upto st m p)) = true)) -> (Z.eqb (value_ st m r) (version st (n st) r)) = true))).

(* no member starts a transaction before every earlier writer of its rows has committed *)
Definition safe_conflicting_rows_are_ordered (st : state) : Prop :=
  (forall m : Member, (forall p : Z, (forall q : Z, (forall r : Row, (negb ((p <? q) && ((in_group st m) && ((0 <=? p) && ((negb (upto st m p)) && ((p <? (received st m)) && ((certified st (txn_at st p)) && ((negb ((live st (txn_at st p)) && (eqb_Member (home st (txn_at st p)) m))) && ((in_group st m) && ((0 <=? q) && ((negb (upto st m q)) && ((q <? (received st m)) && ((certified st (txn_at st q)) && ((negb ((live st (txn_at st q)) && (eqb_Member (home st (txn_at st q)) m))) && ((certified st (txn_at st p)) && ((ws (txn_at st p) r) && ((certified st (txn_at st q)) && ((ws (txn_at st q) r) && (started st m q))))))))))))))))))) = true)))).

(* no worker runs a transaction without write set beside another worker *)
Definition safe_without_write_set_is_alone (st : state) : Prop :=
  (forall m : Member, (forall p : Z, (forall q : Z, (negb ((p <? q) && ((in_group st m) && ((0 <=? p) && ((negb (upto st m p)) && ((p <? (received st m)) && ((certified st (txn_at st p)) && ((negb ((live st (txn_at st p)) && (eqb_Member (home st (txn_at st p)) m))) && ((in_group st m) && ((0 <=? q) && ((negb (upto st m q)) && ((q <? (received st m)) && ((certified st (txn_at st q)) && ((negb ((live st (txn_at st q)) && (eqb_Member (home st (txn_at st q)) m))) && (((empty (txn_at st p)) || (empty (txn_at st q))) && (started st m q)))))))))))))))) = true))).

(* LC < SN, so that no transaction waits for itself *)
Definition safe_last_committed_is_below (st : state) : Prop :=
  (forall m : Member, (forall p : Z, ((negb ((in_group st m) && ((0 <=? p) && ((negb (upto st m p)) && ((p <? (received st m)) && ((certified st (txn_at st p)) && ((negb ((live st (txn_at st p)) && (eqb_Member (home st (txn_at st p)) m))) && ((first st m) <? p)))))))) || ((1 <=? (lc st m p)) && ((lc st m p) <? (sn st m p)))) = true)).

(* LC reaches every earlier writer of a common row that has not committed *)
Definition safe_last_committed_covers_conflicts (st : state) : Prop :=
  (forall m : Member, (forall p : Z, (forall q : Z, (forall r : Row, ((negb ((p <? q) && ((in_group st m) && ((0 <=? p) && ((negb (upto st m p)) && ((p <? (received st m)) && ((certified st (txn_at st p)) && ((negb ((live st (txn_at st p)) && (eqb_Member (home st (txn_at st p)) m))) && ((in_group st m) && ((0 <=? q) && ((negb (upto st m q)) && ((q <? (received st m)) && ((certified st (txn_at st q)) && ((negb ((live st (txn_at st q)) && (eqb_Member (home st (txn_at st q)) m))) && ((certified st (txn_at st p)) && ((ws (txn_at st p) r) && ((certified st (txn_at st q)) && ((ws (txn_at st q) r) && ((first st m) <=? p))))))))))))))))))) || ((sn st m p) <=? (lc st m q))) = true)))).

(* A1: when a session's transaction is certified, every earlier writer of its rows has committed at its member *)
Definition safe_sessions_follow_earlier_writers (st : state) : Prop :=
  (forall m : Member, (forall p : Z, (forall q : Z, (forall r : Row, (negb ((p <? q) && ((q <? (n st)) && ((in_group st m) && ((0 <=? p) && ((negb (upto st m p)) && ((p <? (received st m)) && ((certified st (txn_at st p)) && ((negb ((live st (txn_at st p)) && (eqb_Member (home st (txn_at st p)) m))) && ((live st (txn_at st q)) && ((eqb_Member (home st (txn_at st q)) m) && ((certified st (txn_at st p)) && ((ws (txn_at st p) r) && ((certified st (txn_at st q)) && (ws (txn_at st q) r))))))))))))))) = true)))).

(* a worker's change of a row finds the version of the certified writer before it *)
Definition safe_changes_land_as_certified (st : state) : Prop :=
  (forall m : Member, (forall r : Row, ((negb ((in_group st m) && (negb (Z.eqb (row_lock st m r) (-1))))) || (Z.eqb (value_ st m r) (version st (row_lock st m r) r))) = true)).

(* no worker has changed a row that a session has locked *)
Definition safe_rows_of_a_session_are_its_own (st : state) : Prop :=
  (forall t : Txn, (forall r : Row, ((negb ((live st t) && (ws t r))) || (Z.eqb (row_lock st (home st t) r) (-1))) = true)).

(* an engine commit needs no guard of the group beyond those of the layer: no session has locked a row of it *)
Definition safe_commits_are_steps_of_the_group (st : state) : Prop :=
  (forall m : Member, (forall q : Z, (forall t : Txn, (forall r : Row, (((((in_group st m) = true) /\ (((0 <=? q) = true) /\ (((negb (upto st m q)) = true) /\ (((q <? (n st)) = true) /\ (((q <? (received st m)) = true) /\ ((((negb ((certified st (txn_at st q)) && (negb ((live st (txn_at st q)) && (eqb_Member (home st (txn_at st q)) m))))) = false -> ((((started st m q) = true) /\ ((forall r : Row, ((negb ((certified st (txn_at st q)) && (ws (txn_at st q) r))) || (Z.eqb (row_lock st m r) q)) = true)))))) /\ (((live st t) = true) /\ (((eqb_Member (home st t) m) = true) /\ (((negb (delivered st t)) = true) /\ ((ws t r) = true))))))))))) -> (negb ((certified st (txn_at st q)) && (ws (txn_at st q) r))) = true))))).

(* no member commits a transaction again, across its crashes *)
Definition safe_nothing_commits_twice (st : state) : Prop :=
  (forall m : Member, (forall p : Z, ((times st m p) <=? 1) = true)).

(* whatever a donor has passed is executed or in the relay log *)
Definition safe_nothing_is_passed_over (st : state) : Prop :=
  (forall m : Member, (forall p : Z, ((negb ((connected st m) && (passed st m p))) || ((upto st m p) || ((0 <=? (entry_of st m p)) && (((entry_of st m p) <? (length st m)) && (Z.eqb (gtid_at st m (entry_of st m p)) p))))) = true)).

(* in the group, what was received and does not wait has committed exactly once *)
Definition safe_what_has_no_wait_committed_once (st : state) : Prop :=
  (forall m : Member, (forall p : Z, ((negb ((in_group st m) && ((negb ((in_group st m) && ((0 <=? p) && ((negb (upto st m p)) && ((p <? (received st m)) && ((certified st (txn_at st p)) && (negb ((live st (txn_at st p)) && (eqb_Member (home st (txn_at st p)) m))))))))) && ((negb ((live st (txn_at st p)) && (eqb_Member (home st (txn_at st p)) m))) && ((0 <=? p) && ((p <? (received st m)) && (certified st (txn_at st p)))))))) || (Z.eqb (times st m p) 1)) = true)).

(* an engine commit needs no guard against a second one *)
Definition safe_what_runs_has_not_committed (st : state) : Prop :=
  (forall m : Member, (forall p : Z, ((negb ((in_group st m) && ((running st m p) || ((0 <=? p) && ((p <? (received st m)) && ((live st (txn_at st p)) && (eqb_Member (home st (txn_at st p)) m))))))) || ((0 <=? p) && (negb (upto st m p)))) = true)).

